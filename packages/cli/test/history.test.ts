// halyard history: results, the users in them, and empty results.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ChangeRequest, HistoryEntry } from "@halyard/sdk/management";
import { signInAs } from "../../server/test/support/people.ts";
import { setProtected } from "../../server/test/support/protected.ts";
import { commandSuite } from "./support/command-suite.ts";

const on = commandSuite();

const personalKey = async (name: string, keyName: string) => {
  const { server, environment } = on;
  const person = await signInAs(server, { name, roles: { [environment.name]: "editor" } });
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const body = { name: keyName, role: "editor", expiresAt };
  const made = await person.in(environment.name)("POST", "/personal-keys", body);
  assert.equal(made.status, 201, made.text);
  return made.body as { readonly id: string; readonly key: string };
};

suite("history", () => {
  test("partial text finds changes in any case, and an empty result repeats the filters", async () => {
    const { halyard } = on;
    await halyard.succeed("flags", "create", "new-checkout", "--reason", "For the Sale");
    await halyard.succeed("flags", "create", "Checkout2");
    await halyard.succeed("flags", "create", "banner");
    await halyard.succeed("flags", "update", "banner", "--set", 'tags=["Payments"]');
    await halyard.succeed("flags", "update", "banner", "--set", "owner=Team Shop");
    const found = async (...options: string[]) =>
      (await halyard.read<HistoryEntry[]>("history", ...options)).map(({ id }) => id);
    assert.deepEqual(await found("--search", "CHECKOUT"), ["Checkout2", "new-checkout"]);
    assert.deepEqual(await found("--search", "the sale"), ["new-checkout"]);
    assert.deepEqual(await found("--who", "ADMI", "--search", "ckout2"), ["Checkout2"]);
    assert.deepEqual(await found("--tag", "pay"), ["banner", "banner", "banner"]);
    assert.deepEqual(await found("--owner", "SHOP"), ["banner", "banner", "banner"]);
    assert.deepEqual(await found("--actor", "adm"), []);

    const nothing = await halyard.run("history", "--search", "chekout", "--kind", "flag");
    assert.equal(nothing.code, 0);
    assert.equal(nothing.stderr, "No changes match --kind flag --search chekout.\n");
    const wrong = await halyard.run("history", "--kind", "segment", "--tag", "a");
    assert.equal(wrong.code, 2, wrong.stderr);
    assert.match(wrong.stderr, /tag selects flags/);
  });

  test("the user comes before the key: authors of changes, requests, approvals and comments", async () => {
    const { halyard, server, environment } = on;
    const ada = await personalKey("Ada Lovelace", "cli");
    const ben = await personalKey("Ben Nevis", "laptop");
    const as = (key: { readonly key: string }) => ["--key", key.key];
    await halyard.succeed("flags", "create", "approved", ...as(ada));
    assert.match(
      await halyard.succeed("history", "--search", "approved"),
      new RegExp(` created by Ada Lovelace \\(key cli, ${ada.id}\\)\n`),
    );
    assert.match(
      await halyard.succeed("flags", "get", "approved"),
      /last changed .* by Ada Lovelace \(key cli\)\n/,
    );

    await setProtected(server, environment.name, true);
    const proposed = await halyard.read<{ proposed: ChangeRequest }>(
      ...["flags", "enable", "approved", ...as(ada)],
    );
    const { id } = proposed.proposed;
    await halyard.succeed("requests", "comment", id, "Why now?", ...as(ben));
    assert.match(await halyard.succeed("requests", "list"), /Ada Lovelace \(key cli\)/);
    const refused = await halyard.run("requests", "withdraw", id, ...as(ben));
    assert.match(refused.stderr, /Only Ada Lovelace \(key cli\), who made this change request/);
    await halyard.succeed("requests", "approve", id, ...as(ben));
    const shown = await halyard.succeed("requests", "show", id);
    assert.match(shown, /\n {2}by Ada Lovelace \(key cli\) at /);
    assert.match(shown, /\n {2}approved by Ben Nevis \(key laptop\) at /);
    assert.match(shown, /\n {2}Ben Nevis \(key laptop\) at .*:\n {4}Why now\?\n/);
    assert.match(
      await halyard.succeed("history", "--kind", "flag", "--search", "approved", "--limit", "1"),
      new RegExp(
        `enabled by Ada Lovelace \\(key cli, ${ada.id}\\)\n {6}approved by Ben Nevis \\(key laptop\\) \\(${id}\\)\n`,
      ),
    );
    assert.match(
      await halyard.succeed("history", "--kind", "change-request", "--search", "APPROVED"),
      /by Ben Nevis \(key laptop, /,
    );
  });
});
