// The help, and errors for invalid commands.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Command } from "commander";
import { runHalyard } from "../../server/test/support/halyard-process.ts";
import { createProgram } from "../src/program.ts";
import { runInThread } from "./support/command-thread.ts";

/** Every command except helpers of the library and of completion scripts. */
const commandsOf = (command: Command, words: readonly string[] = []): [string, Command][] =>
  command.commands
    .filter((child) => child.name() !== "suggest")
    .flatMap((child): [string, Command][] => {
      const path = [...words, child.name()];
      const isGroup = child.commands.length > 0 && child.options.length === 0;
      const own: [string, Command][] = isGroup ? [] : [[path.join(" "), child]];
      return [...own, ...commandsOf(child, path)];
    });

const helpOf = (command: Command): string => {
  let text = "";
  command.configureOutput({
    writeOut: (piece) => {
      text += piece;
    },
    getOutHelpWidth: () => 80,
  });
  command.outputHelp();
  return text;
};

suite("the help of every command", async () => {
  const commands = commandsOf(await createProgram());
  test("there are as many as there should be", () => {
    assert.ok(commands.length >= 35);
  });
  for (const [name, command] of commands) {
    test(`halyard ${name} --help`, () => {
      const text = helpOf(command);
      assert.match(text, new RegExp(`^Usage: halyard ${name}`));
      assert.match(command.description(), /^[a-z].{10,}[^.]$/, "a description, as a phrase");
      for (const argument of command.registeredArguments) {
        assert.notEqual(argument.description, "", `${argument.name()} is not described`);
      }
      for (const option of command.options) {
        assert.notEqual(option.description, "", `${option.flags} is not described`);
      }
      assert.match(text, /^Examples?:\n( {2}.*halyard .*\n)+/m);
    });
  }
});

suite("help", () => {
  const pages: [string, RegExp][] = [
    [
      "",
      /Flags:\n {2}flags [\s\S]*Webhooks, keys and users:\n {2}webhooks [\s\S]*The server and its database:\n {2}serve [\s\S]*Examples:[\s\S]*Exit codes: 0 done, 1 failed/,
    ],
    [
      "serve",
      /--port <number>[\s\S]*4400[\s\S]*--host <address>[\s\S]*127\.0\.0\.1[\s\S]*--data <place>/,
    ],
    ["flags", /list [\s\S]*get [\s\S]*history [\s\S]*create [\s\S]*rollout [\s\S]*describe /],
    [
      "keys create",
      /--role <role>[\s\S]*"client", "server",\s+"editor", "admin"[\s\S]*--name <text>/,
    ],
  ];
  for (const [command, content] of pages) {
    test(`halyard ${command} --help`, async () => {
      const args = [...command.split(" ").filter(Boolean), "--help"];
      const { code, stderr, stdout: text } = await runInThread(args);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
      assert.match(text, new RegExp(`^Usage: halyard ${command}`));
      assert.match(text, content);
      assert.doesNotMatch(text, /suggest/);
    });
  }

  test("halyard --version", async () => {
    const { code, stdout } = await runHalyard(["--version"]);
    assert.equal(code, 0);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  });
});

suite("an invalid command exits with 2 and mentions --help", () => {
  const refuse = async (args: string[], message: RegExp) => {
    const { code, stdout, stderr } = await runInThread(args);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: "" });
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /^\s+at |node:internal|file:\/\//m);
  };
  const mistakes: [string[], RegExp][] = [
    [["frobnicate"], /unknown command 'frobnicate'/],
    [["keys", "frobnicate"], /unknown command 'frobnicate'/],
    [["flgas"], /unknown command 'flgas'\n\(Did you mean flags\?\)/],
    [["environments", "list", "--frobnicate"], /unknown option '--frobnicate'/],
    [["environments", "create"], /missing required argument 'name'/],
    [["environments", "create", "one", "two"], /too many arguments/],
    [
      ["keys", "create", "-e", "x", "-r", "root", "-n", "ci"],
      /choices are client, server, editor, admin/,
    ],
    [["keys", "revoke", "-e", "development"], /missing required argument 'id'/],
  ];
  for (const [args, message] of mistakes) {
    test(`halyard ${args.join(" ")}`, () =>
      refuse(args, new RegExp(`^halyard: .*${message.source}.*\\n\\(see --help`)));
  }

  for (const args of [[], ["keys"], ["flags"]]) {
    test(`halyard ${args.join(" ")} alone shows the help`, () => refuse(args, /^Usage: halyard/));
  }
});
