// flagd's in-process provider of Python, as it is published: a change arrives, Halyard restarts, a key is not valid.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { full } from "./faults/support/size.ts";
import { changeFlag } from "./support/ofrep.ts";
import { newFolder, startTestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "halyard-test-languages-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("Python", async (t) => {
  if (!full) {
    t.skip("it loads packages from another registry: npm run test:providers");
    return;
  }
  const source = join(folder, "python");
  const python = join(source, "venv/bin/python");
  cpSync(join(import.meta.dirname, "fixtures/flagd-python"), source, { recursive: true });
  try {
    await run("python3", ["-m", "venv", "venv"], { cwd: source });
    await run(python, ["-m", "pip", "install", "-q", "-r", "requirements.txt"], { cwd: source });
  } catch (error) {
    const [reason] = String(error instanceof Error ? error.message : error).split("\n");
    t.skip(`the provider cannot be installed here: ${reason}`);
    return;
  }

  const data = newFolder();
  let server = await startTestServer({ HALYARD_DATA: data, HALYARD_FLAGD_PORT: "0" });
  t.after(() => server.close());
  const [host = "", port = ""] = server.flagd.split(":");
  const { keys } = await server.environment();
  const variants = { one: "first", two: "second", off: "" };
  const flag = { key: "a", type: "variant", valueType: "string", variants, off: "off" };
  const admin = () => server.api(keys.admin);
  await admin()("POST", "/flags", { ...flag, otherwise: "one" });
  await changeFlag(admin(), "a", { enabled: true });

  const follow = (key: string) => {
    const child = spawn(python, ["follow.py", host, port, key], { cwd: source });
    t.after(() => child.kill());
    const followed = { text: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      followed.text += text;
    });
    return followed;
  };
  const followed = follow(keys.server);
  const stranger = follow("nobody-0123456789abcdef");
  await until("its value", () => followed.text.endsWith("first\n"));
  await changeFlag(admin(), "a", { otherwise: "two" });
  await until("the change", () => followed.text.endsWith("second\n"));
  await server.close();
  server = await startTestServer({ HALYARD_DATA: data, HALYARD_FLAGD_PORT: port });
  await changeFlag(admin(), "a", { otherwise: "one" });
  await until("the change after the restart", () => followed.text.endsWith("first\n"));
  await until("the default", () => stranger.text !== "");
  assert.equal(stranger.text, "none\n");
});
