// halyard completion: the scripts in real shells.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { commandFile } from "../../server/test/support/halyard-process.ts";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { bashCompletion } from "../src/completion/bash.ts";
import { fishCompletion } from "../src/completion/fish.ts";
import { completedCommands } from "../src/completion/tree.ts";
import { zshCompletion } from "../src/completion/zsh.ts";
import { createProgram } from "../src/program.ts";
import { type CommandRunner, createRunner } from "./support/command-runner.ts";

let server: TestServer;
let environment: TestEnvironment;
let settings: Record<string, string>;
let halyard: CommandRunner;

before(async () => {
  server = await startTestServer();
  environment = await server.environment();
  const url = server.url;
  const key = environment.keys.server;
  const file = join(server.folder, "config.json");
  const profiles = { one: { url, key }, other: { url: "http://127.0.0.1:9", key } };
  writeFileSync(file, JSON.stringify({ current: "one", profiles }), { mode: 0o600 });
  for (const name of ["new-checkout", "new-search", "old-banner"]) {
    await environment.admin("POST", "/flags", { key: name, type: "boolean" });
  }
  await environment.admin("POST", "/segments", { key: "beta" });
  // Put the command on the PATH under its name.
  const folder = join(server.folder, "bin");
  mkdirSync(folder);
  const command = join(folder, "halyard");
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${commandFile}' "$@"\n`);
  chmodSync(command, 0o755);
  settings = { PATH: `${folder}:${process.env.PATH}`, HALYARD_CONFIG: file };
  halyard = createRunner(settings);
});
after(() => server.close());

const run = promisify(execFile);
/** Runs a script in a shell that ignores the user's configuration. */
const runIn = (shell: string, args: readonly string[], script: string, env = settings) => {
  const file = join(server.folder, "script");
  writeFileSync(file, script);
  return run(shell, [...args, file], { env, timeout: 600_000 });
};

const commands = completedCommands(await createProgram());

// Names are omitted if the server takes too long for a user at a prompt, so retry.
suite("bash", () => {
  const have = existsSync("/bin/bash") || existsSync("/usr/bin/bash");
  /** The words after `halyard` as bash splits them. The last one is incomplete. */
  const lines: [words: string[], suggested: string][] = [
    [["fla"], "flags flagd"],
    [["flags", "en"], "enable"],
    [["flags", "list", "--ty"], "--type"],
    [["flags", "list", "--type", ""], "boolean rollout variant"],
    [["flags", "list", "--type", "=", "r"], "rollout"],
    [["completion", ""], "bash zsh fish"],
    [["help", "prof"], "profiles"],
    [["flags", "get", "new-"], "new-checkout new-search"],
    [["flags", "rules", "add", "new-s"], "new-search"],
    [["flags", "rules", "n"], "new-checkout new-search"],
    [["flags", "rules", "m"], "move"],
    [["segments", "show", "b"], "beta"],
    [["flags", "enable", "old-banner", "new-s"], "new-search"],
    [["flags", "list", "-p", "o"], "one other"],
    [["flags", "get", "-p", "other", "n"], ""],
    [["flags", "rollout", "new-checkout", ""], ""],
    [["suggest", ""], ""],
  ];

  test("completes commands, options, choices, flags and profiles", { skip: !have }, async () => {
    const quoted = (text: string) => `'${text}'`;
    const calls = lines.map(([words]) => {
      const all = ["halyard", ...words].map(quoted).join(" ");
      return `COMP_WORDS=(${all}); COMP_CWORD=${words.length}; _halyard; echo "\${COMPREPLY[*]}"`;
    });
    const script = ['eval "$(halyard completion bash)"', ...calls].join("\n");
    const printed = await until("all names in time", async () => {
      const { stdout, stderr } = await runIn("bash", ["--norc"], script);
      assert.equal(stderr, "");
      const all = stdout.split("\n").slice(0, -1);
      return lines.every(([, suggested], index) => suggested === "" || all[index] !== "") && all;
    });
    assert.deepEqual(
      printed.map((line, index) => [lines[index]?.[0], line]),
      lines,
    );
  });

  test("bash accepts the script, and the address on the command line is used", {
    skip: !have,
  }, async () => {
    const script = bashCompletion(commands);
    assert.equal((await runIn("bash", ["--norc", "-n"], script)).stderr, "");
    const { port } = new URL(server.url);
    const line = ["--url", "http", ":", "//127.0.0.1", ":", port, "--key", environment.keys.server];
    const words = ["halyard", "flags", "get", ...line, "old"].map((word) => `'${word}'`).join(" ");
    const driven = `${script}\nCOMP_WORDS=(${words}); COMP_CWORD=11; _halyard; echo "\${COMPREPLY[*]}"`;
    const env = { ...settings, HALYARD_CONFIG: "/nowhere" };
    const printed = await until("a name in time", async () => {
      const { stdout } = await runIn("bash", ["--norc"], driven, env);
      return stdout !== "\n" && stdout;
    });
    assert.equal(printed, "old-banner\n");
  });
});

test("every command, option and choice is in each script", () => {
  const scripts = [bashCompletion, zshCompletion, fishCompletion].map((make) => make(commands));
  assert.ok(commands.length > 30);
  for (const script of scripts) {
    for (const { place, options } of commands) {
      assert.ok(script.includes(`'${place}'`) || script.includes(`\\'${place}\\'`), place);
      for (const name of options.flatMap(({ names }) => names)) {
        assert.ok(script.includes(name.replace(/^-+/, "")), `${place} ${name}`);
      }
    }
    assert.match(script, /boolean rollout/);
    assert.doesNotMatch(script, /'suggest'/);
  }
});

const shellAt = (name: string) =>
  ["/bin", "/usr/bin", "/usr/local/bin"].map((folder) => join(folder, name)).find(existsSync);

test("zsh accepts the script", {
  skip: shellAt("zsh") ? false : "zsh is not installed",
}, async () => {
  const { stderr } = await runIn(shellAt("zsh") ?? "", ["-f", "-n"], zshCompletion(commands));
  assert.equal(stderr, "");
});

test("fish completes", { skip: shellAt("fish") ? false : "fish is not installed" }, async () => {
  const script = `${fishCompletion(commands)}\ncomplete -C 'halyard flags get new-s'\n`;
  const env = { ...settings, HOME: server.folder };
  const { stdout } = await runIn(shellAt("fish") ?? "", ["--no-config"], script, env);
  assert.equal(stdout.trim(), "new-search");
});

test("suggestions return soon, and print no errors", async () => {
  const silent = { code: 0, stdout: "", stderr: "" };
  const file = join(server.folder, "broken.json");
  writeFileSync(file, "{", { mode: 0o600 });
  const broken = halyard.with({ HALYARD_CONFIG: file });
  for (const runner of [broken, halyard.with({ HALYARD_PROFILE: "gone" })]) {
    const { code, stdout, stderr } = await runner.run("suggest", "flag", "", "--", "flags", "get");
    assert.deepEqual({ code, stdout, stderr }, silent);
  }
  await halyard.refuse(["completion", "tcsh"], 2, /choices are bash, zsh, fish/);
});
