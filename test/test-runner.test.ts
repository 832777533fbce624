// The runner fails when a test fails, and a test file's name decides which command runs it, on which stores.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findTests, parseTestName } from "../scripts/test-files.ts";

const runTest = (name: string, content: string) => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-runner-"));
  const file = join(folder, name);
  writeFileSync(file, `import { test } from "node:test";\ntest("one", () => {${content}});\n`);
  // Independent of this run: with a PostgreSQL of its own, and its own report.
  const env = { ...process.env, TEST_DATABASE_URL: undefined, NODE_TEST_CONTEXT: undefined };
  const ended = spawnSync(process.execPath, ["scripts/test.ts", file], { env, encoding: "utf8" });
  rmSync(folder, { recursive: true });
  return { status: ended.status, last: ended.stdout.trimEnd().split("\n").at(-1) };
};
const failUnless = (store: string): string =>
  `if (process.env.HALYARD_TEST_STORE !== "${store}") throw new Error("no");`;

test("the exit code says whether all tests passed", () => {
  const failing = runTest("some.test.ts", 'throw new Error("no");');
  assert.deepEqual(failing, { status: 1, last: "0 passed, 1 failed" });
  const broken = runTest("some.test.ts", '}); import "./nowhere.ts"; test("two", () => {');
  assert.deepEqual(broken, { status: 1, last: "0 passed, 1 failed" });
  const passing = runTest("some.test.ts", "");
  assert.deepEqual(passing, { status: 0, last: "1 passed, 0 failed" });
});

test("a file runs on the stores that its name says", () => {
  const onSqlite = { status: 0, last: "1 passed, 0 failed" };
  assert.deepEqual(runTest("some.test.ts", failUnless("sqlite")), onSqlite);
  const onPostgres = runTest("some.postgres.test.ts", failUnless("postgres"));
  assert.deepEqual(onPostgres, { status: 0, last: "1 passed, 0 failed" });
  const onBoth = runTest("some.stores.faults.test.ts", failUnless("postgres"));
  assert.deepEqual(onBoth, { status: 1, last: "1 passed, 1 failed" });
});

test("names that the rule doesn't know are refused", () => {
  for (const name of ["a.store.test.ts", "a.long.stores.test.ts", "a.slow.test.ts", "a.ts"]) {
    assert.throws(() => parseTestName(`test/${name}`), /isn't named like a test file/);
  }
  assert.equal(runTest("some.slow.test.ts", "").status, 1);
});

test("each test file is run by exactly one command of package.json", () => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
    scripts: Readonly<Record<string, string>>;
  };
  const kinds = Object.entries(scripts)
    .filter(([, command]) => command.startsWith("node scripts/test.ts"))
    .map(([name, command]) => {
      const [, , kind = ""] = command.split(" ");
      assert.equal(name, kind === "" ? "test" : `test:${kind}`);
      return kind;
    });
  const found = kinds.flatMap(findTests);
  assert.deepEqual(found.toSorted(), globSync("{packages/*/test,test}/**/*.test.ts").toSorted());
});
