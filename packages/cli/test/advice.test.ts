// Commands that an error suggests: each one is run, and must help the caller.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setProtected } from "../../server/test/support/protected.ts";
import { storeSettings } from "../../server/test/support/test-store.ts";
import { commandSuite } from "./support/command-suite.ts";

const on = commandSuite();

/** Runs the suggested command that creates a key, with this test's names, and returns the key. */
const keyBy = async (stderr: string): Promise<string> => {
  const { server, environment, halyard } = on;
  const [line = ""] = /(?<=halyard )keys create .* --data FOLDER/.exec(stderr) ?? [];
  assert.ok(line, stderr);
  const settings: Readonly<Record<string, string>> = await storeSettings(server.folder);
  const { DATABASE_URL, HALYARD_DATA = "" } = settings;
  const names = [environment.name, "advised"];
  const words = line
    .replace("FOLDER", DATABASE_URL ?? HALYARD_DATA)
    .replace(/\bNAME\b/g, () => names.shift() ?? "");
  // The configured key has no permissions.
  const operator = halyard.with({ ...settings, HALYARD_API_KEY: environment.keys.client });
  return (await operator.succeed(...words.split(" "))).trim();
};

suite("advice", () => {
  const changes: [name: string, role: "admin" | "server", args: readonly string[]][] = [
    ["an admin who needs an owner", "admin", ["environments", "create", "advised"]],
    ["a program that needs an editor", "server", ["flags", "create", "advised"]],
    ["a program that needs an admin", "server", ["keys", "list"]],
  ];
  for (const [name, role, args] of changes) {
    test(`${name} creates the key that the error names`, async () => {
      const { environment, halyard } = on;
      const { code, stderr } = await halyard.run(...args, "--key", environment.keys[role]);
      assert.equal(code, 4, stderr);
      await halyard.succeed(...args, "--key", await keyBy(stderr));
    });
  }

  test("an invalid key is replaced", async () => {
    const { halyard } = on;
    const unknown = "hal_0123456789abcdef_not-a-key-of-this-server";
    const { code, stderr } = await halyard.run("flags", "list", "--key", unknown);
    assert.equal(code, 4, stderr);
    await halyard.succeed("keys", "list", "--key", await keyBy(stderr));
  });

  test("an admin without permission to bypass approval creates a change request", async () => {
    const { server, environment, halyard } = on;
    await halyard.succeed("flags", "create", "guarded");
    await setProtected(server, environment.name, true);
    const change = ["flags", "enable", "guarded", "--reason", "now"];
    const { code, stderr } = await halyard.run(...change, "--bypass");
    assert.equal(code, 4, stderr);
    assert.match(stderr, /Without --bypass, the same command submits the change/);
    assert.doesNotMatch(stderr, /keys create/);
    const proposed = await halyard.succeed(...change);
    const [, id = ""] = /^Created change request (cr_\w+) /.exec(proposed) ?? [];
    const bypass = ["requests", "bypass", id, "--reason", "now"];
    const refused = await halyard.run(...bypass);
    assert.equal(refused.code, 4);
    await halyard.succeed(...bypass, "--key", await keyBy(refused.stderr));
    await setProtected(server, environment.name, false);
  });
});
