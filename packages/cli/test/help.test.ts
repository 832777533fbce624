// What the command says of itself, and of what is not a command.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { runHalyard } from "../../server/test/support/halyard-process.ts";

suite("help", { concurrency: 3 }, () => {
  const pages: [string, RegExp][] = [
    [
      "",
      /Commands:[\s\S]*serve[\s\S]*environments[\s\S]*keys[\s\S]*Examples:[\s\S]*Exit codes: 0 done, 1 failed/,
    ],
    [
      "serve",
      /--port <number>[\s\S]*4400[\s\S]*--host <address>[\s\S]*127\.0\.0\.1[\s\S]*--data <folder>/,
    ],
    ["environments", /list[\s\S]*create[\s\S]*delete/],
    ["environments list", /--data <folder>[\s\S]*--json/],
    ["environments create", /<name>|name +1 to 63 characters/],
    ["environments delete", /--force[\s\S]*even when it still holds flags/],
    ["keys", /list[\s\S]*create[\s\S]*revoke/],
    ["keys list", /--environment <name>[\s\S]*--json|--json[\s\S]*--environment <name>/],
    ["keys create", /--role <role>[\s\S]*"client", "server",\s+"admin"[\s\S]*--name <text>/],
    ["secrets", /reencrypt/],
    ["secrets reencrypt", /HALYARD_SECRET_KEY[\s\S]*--data <folder>[\s\S]*--json/],
    ["webhooks", /listen/],
    ["webhooks listen", /--key/],
    ["keys revoke", /the id of the key, as `keys list` shows it/],
  ];
  for (const [command, content] of pages) {
    test(`halyard ${command} --help`, async () => {
      const args = [...command.split(" ").filter(Boolean), "--help"];
      const { code, stderr, stdout: text } = await runHalyard(args);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
      assert.match(text, new RegExp(`^Usage: halyard ${command}`));
      assert.match(text, content);
    });
  }

  test("halyard --version", async () => {
    const { code, stdout } = await runHalyard(["--version"]);
    assert.equal(code, 0);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  });
});

suite("what is not a command ends with 2 and points at --help", { concurrency: 3 }, () => {
  const refuse = async (args: string[], message: RegExp) => {
    const { code, stdout, stderr } = await runHalyard(args);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: "" });
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /^\s+at |node:internal|file:\/\//m);
  };
  const mistakes: [string[], RegExp][] = [
    [["frobnicate"], /unknown command 'frobnicate'/],
    [["keys", "frobnicate"], /unknown command 'frobnicate'/],
    [["environments", "list", "--frobnicate"], /unknown option '--frobnicate'/],
    [["environments", "create"], /missing required argument 'name'/],
    [["environments", "create", "one", "two"], /too many arguments/],
    [["keys", "list"], /required option '-e, --environment <name>' not specified/],
    [["keys", "create", "-e", "development", "-n", "ci"], /required option '-r, --role <role>'/],
    [["keys", "create", "-e", "development", "-r", "admin"], /required option '-n, --name <text>'/],
    [["keys", "create", "-e", "x", "-r", "root", "-n", "ci"], /choices are client, server, admin/],
    [["keys", "revoke", "-e", "development"], /missing required argument 'id'/],
  ];
  for (const [args, message] of mistakes) {
    test(`halyard ${args.join(" ")}`, () =>
      refuse(args, new RegExp(`^error: .*${message.source}.*\\n\\(add --help`)));
  }

  for (const args of [[], ["keys"], ["environments"]]) {
    test(`halyard ${args.join(" ")} alone shows the help`, () =>
      refuse(args, /^Usage: halyard[\s\S]*Commands:/));
  }
});
