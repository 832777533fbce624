// npm test fails when a test fails, also after it has started a PostgreSQL of its own.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

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
