// The OFREP providers of Go and Python, as they are published: a flag that is off is off there, whatever the program's default.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { makeFlag } from "./support/ofrep.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

const run = promisify(execFile);
const fixtures = join(import.meta.dirname, "fixtures");
const folder = mkdtempSync(join(tmpdir(), "halyard-test-languages-"));

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Whether the language and its packages could be had; otherwise the test is skipped, and says why. */
const hasPrepared = async (t: TestContext, prepare: () => Promise<unknown>): Promise<boolean> => {
  try {
    await prepare();
    return true;
  } catch (error) {
    const [reason] = String(error instanceof Error ? error.message : error).split("\n");
    t.skip(`the provider cannot be installed here: ${reason}`);
    return false;
  }
};

const check = async (command: string, args: readonly string[], cwd: string): Promise<void> => {
  const { admin, keys } = await server.environment();
  await makeFlag(admin, { key: "off", type: "boolean" });
  await makeFlag(admin, { key: "on", type: "boolean", enabled: true });
  const { stdout } = await run(command, [...args, server.url, keys.client], { cwd });
  const { off, on } = JSON.parse(stdout);
  assert.deepEqual(off, {
    value: false,
    variant: "off",
    reason: "STATIC",
    metadata: { reason: "DISABLED" },
  });
  assert.deepEqual([on.value, on.variant, on.reason], [true, "on", "STATIC"]);
};

test("Go", async (t) => {
  const program = join(folder, "evaluate");
  const source = join(fixtures, "ofrep-go");
  if (!(await hasPrepared(t, () => run("go", ["build", "-o", program, "."], { cwd: source })))) {
    return;
  }
  await check(program, [], folder);
});

test("Python", async (t) => {
  const source = join(folder, "python");
  cpSync(join(fixtures, "ofrep-python"), source, { recursive: true });
  const python = join(source, "venv/bin/python");
  const prepare = async () => {
    await run("python3", ["-m", "venv", "venv"], { cwd: source });
    await run(python, ["-m", "pip", "install", "-q", "-r", "requirements.txt"], { cwd: source });
  };
  if (!(await hasPrepared(t, prepare))) return;
  await check(python, ["evaluate.py"], source);
});
