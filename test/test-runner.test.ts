// npm test fails when a test fails, also after it has started a PostgreSQL of its own; what it leaves out is run by another script.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { longOnly } from "../scripts/long-only.ts";

const runTests = (content: string) => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-runner-"));
  const file = join(folder, "some-postgres.test.ts");
  writeFileSync(file, `import { test } from "node:test";\ntest("one", () => {${content}});\n`);
  // As if it were the first: with a PostgreSQL of its own, and reporting to nobody.
  const env = { ...process.env, TEST_DATABASE_URL: undefined, NODE_TEST_CONTEXT: undefined };
  const ended = spawnSync(process.execPath, ["scripts/test.ts", file], { env, encoding: "utf8" });
  rmSync(folder, { recursive: true });
  return { status: ended.status, last: ended.stdout.trimEnd().split("\n").at(-1) };
};

test("the exit code says whether all tests passed", () => {
  assert.deepEqual(runTests('throw new Error("no");'), { status: 1, last: "0 passed, 1 failed" });
  assert.deepEqual(runTests(""), { status: 0, last: "1 passed, 0 failed" });
});

test("each file that npm test leaves out is there, and its script runs it", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
    scripts: Readonly<Record<string, string>>;
  };
  for (const [file, script] of Object.entries(longOnly)) {
    const [, patterns = ""] = scripts[script]?.split("scripts/test.ts ") ?? [];
    const files = patterns.split(" ").flatMap((pattern) => globSync(pattern));
    assert.ok(files.includes(file), `npm run ${script} does not run ${file}`);
  }
});
