// flagd's in-process providers of Python and Java, as they are published: a change arrives, Halyard restarts, a key is not valid.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify, stripVTControlCharacters } from "node:util";
import { changeFlag } from "./support/ofrep.ts";
import { newFolder, startTestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "halyard-test-languages-"));
after(() => rmSync(folder, { recursive: true, force: true }));

type Command = readonly [string, ...string[]];
const python = "venv/bin/python";
const inPython: readonly Command[] = [
  ["python3", "-m", "venv", "venv"],
  [python, "-m", "pip", "install", "-q", "-r", "requirements.txt"],
];
/** The version that the examples have: the last whose engine splits as Halyard does. */
const olderProvider: Command = [
  python,
  ...["-m", "pip", "install", "-q", "openfeature-provider-flagd==0.5.2"],
];

const languages: readonly {
  readonly name: string;
  readonly source: string;
  readonly installed: readonly Command[];
  /** A command of the shell; the host, the port and the key are its arguments. */
  readonly followed: string;
}[] = [
  {
    name: "Python",
    source: "flagd-python",
    installed: inPython,
    followed: `exec ${python} follow.py "$@"`,
  },
  {
    name: "Python, the provider before its engine hashed differently",
    source: "flagd-python",
    installed: [...inPython, olderProvider],
    followed: `exec ${python} follow.py "$@"`,
  },
  {
    name: "Java",
    source: "flagd-java",
    installed: [["mvn", "-q", "-B", "compile"]],
    followed: `exec mvn -q -B exec:java -Dexec.mainClass=Follow -Dexec.args="$*"`,
  },
];

for (const { name, source, installed, followed } of languages) {
  test(name, async (t) => {
    const cwd = mkdtempSync(join(folder, "language-"));
    cpSync(join(import.meta.dirname, "fixtures", source), cwd, { recursive: true });
    try {
      for (const [command, ...args] of installed) await run(command, args, { cwd });
    } catch (error) {
      assert.doesNotMatch(String((error as { stdout?: string }).stdout), /COMPILATION ERROR/);
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
      const child = spawn("sh", ["-c", followed, "sh", host, port, key], { cwd });
      t.after(() => child.kill());
      const printed = { text: "", errors: "" };
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        printed.text += stripVTControlCharacters(text);
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        printed.errors += text;
      });
      const shows = (value: string) =>
        until(`${value} in ${name}`, () => {
          assert.equal(child.exitCode, null, printed.errors);
          return printed.text.endsWith(`${value}\n`);
        });
      return { printed, shows };
    };
    const known = follow(keys.server);
    const stranger = follow("nobody-0123456789abcdef");
    await known.shows("first");
    await changeFlag(admin(), "a", { otherwise: "two" });
    await known.shows("second");
    await server.close();
    server = await startTestServer({ HALYARD_DATA: data, HALYARD_FLAGD_PORT: port });
    await changeFlag(admin(), "a", { otherwise: "one" });
    await known.shows("first");
    // Nothing in between: it kept the value while Halyard was away.
    assert.match(known.printed.text, /^(none\n)?first\nsecond\nfirst\n$/);
    await stranger.shows("none");
    assert.equal(stranger.printed.text, "none\n");
  });
}
