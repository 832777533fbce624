// Commands in a protected environment, and change requests.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { ChangeRequest } from "@halyard/sdk/management";
import { hour, minute, movableClock } from "../../server/test/support/movable-clock.ts";
import { signInAs } from "../../server/test/support/people.ts";
import {
  act,
  propose,
  protectedEnvironment,
  type Request,
  read,
  setProtected,
} from "../../server/test/support/protected.ts";
import { startTestServer } from "../../server/test/support/server.ts";
import { until } from "../../server/test/support/until.ts";
import { createRunner, settingsFor } from "./support/command-runner.ts";
import { commandSuite } from "./support/command-suite.ts";

const on = commandSuite();

suite("change requests", () => {
  test("commands create requests, and another user approves them with a personal key", async () => {
    const { halyard, server, environment } = on;
    const { name, admin } = environment;
    await halyard.succeed("flags", "create", "checkout");
    await setProtected(server, name, true);

    const whoami = await halyard.read<{ proposes: boolean }>("whoami");
    assert.equal(whoami.proposes, true);
    const enabled = await halyard.succeed("flags", "enable", "checkout");
    const [, id = ""] =
      /^Created change request (cr_\w+) at http:\S+: Change the flag checkout\. Nothing has changed yet\. /.exec(
        enabled,
      ) ?? [];
    assert.ok(id, enabled);
    const { proposed } = await halyard.read<{ proposed: ChangeRequest }>(
      ...["flags", "create", "banner", "--enabled", "--reason", "A sale"],
    );
    assert.deepEqual(
      proposed.operations.map(({ key, action }) => `${action} ${key}`),
      ["create banner", "patch banner"],
    );
    assert.equal(proposed.reason, "A sale");

    const rule = { id: "beta", when: { segment: ["beta"] }, serve: "on" };
    const file = join(server.folder, "flags.json");
    writeFileSync(
      file,
      JSON.stringify({
        halyard: 1,
        flags: [
          { key: "one", type: "boolean", enabled: true, rules: [rule], otherwise: "off" },
          { key: "two", type: "rollout", enabled: false, percentage: 5 },
        ],
        segments: [{ key: "beta", include: ["ann"] }],
      }),
    );
    const imported = await halyard.succeed("import", file);
    assert.match(
      imported,
      /Created change request cr_\w+ at http:\S+: Create the segment beta and 3 more\./,
    );

    const list = await halyard.succeed("requests", "list", "--state", "open");
    assert.match(list, /^ID .*\ncr_\w+ +open +Create the segment beta and 3 more/);
    assert.equal(list.trim().split("\n").length, 4);

    const keyOf = async (person: string) => {
      const signedIn = await signInAs(server, { name: person, roles: { [name]: "editor" } });
      const key = await signedIn.in(name)("POST", "/personal-keys", {
        name: "cli",
        role: "editor",
        expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
      });
      assert.equal(key.status, 201, key.text);
      return ["--key", (key.body as { key: string }).key];
    };
    const asBen = await keyOf("Ben");
    const asCy = await keyOf("Cy");
    const own = await halyard.run("requests", "approve", id);
    assert.equal(own.code, 4, "a program's key cannot approve");
    await halyard.succeed("requests", "comment", id, "Why now?", ...asBen);
    assert.match(
      await halyard.succeed("requests", "show", id),
      /enabled: false → true\n[\s\S]*Ben.* at .*:\n {4}Why now\?\n/,
    );
    const missing =
      "1 of 2 approvals: its author is a key without a user, so it needs two approvers, or an owner";
    assert.equal(
      await halyard.succeed("requests", "approve", id, ...asCy),
      `${id} is open in ${name} at ${server.url}: Change the flag checkout.\nIt has ${missing}.\n`,
    );
    assert.ok((await halyard.succeed("requests", "show", id)).includes(missing));
    assert.equal(
      await halyard.succeed("requests", "approve", id, ...asBen),
      `${id} is applied in ${name} at ${server.url}: Change the flag checkout.\n`,
    );
    const open = await halyard.read<ChangeRequest[]>("requests", "list", "--state", "open");
    for (const request of open) {
      await halyard.succeed("requests", "approve", request.id, ...asCy);
      await halyard.succeed("requests", "approve", request.id, ...asBen);
    }
    const flags = (await admin("GET", "/flags")).body as { key: string; enabled: boolean }[];
    assert.deepEqual(
      flags.map((flag) => `${flag.key} ${flag.enabled}`),
      ["banner true", "checkout true", "one true", "two false"],
    );

    const withdrawn = await halyard.succeed("flags", "disable", "checkout");
    const [, last = ""] = /(cr_\w+)/.exec(withdrawn) ?? [];
    assert.match(await halyard.succeed("requests", "withdraw", last), /is withdrawn/);
    const refused = await halyard.run("requests", "bypass", last, "--reason", "x");
    assert.equal(refused.code, 4, "no owner");
  });
});

test("the approval of a request that couldn't be applied no longer counts", async (t) => {
  const moved = movableClock();
  const server = await startTestServer({}, { clock: moved.clock });
  t.after(() => server.close());
  const { admin, keys, asAda, asBen } = await protectedEnvironment(server);
  const operations = [{ kind: "flag", key: "checkout", action: "patch", body: { enabled: true } }];
  const applyAt = new Date(moved.clock().getTime() + hour).toISOString();
  const made = (await asAda("POST", "/change-requests", { operations, applyAt })).body as Request;
  assert.equal((await act(asBen, made, "approve")).status, 200);
  const other = await propose(asAda, { description: "Mine too" });
  assert.equal((await act(asBen, other, "approve")).status, 200);
  moved.forward(hour + minute);
  await until("it is open again", async () => (await read(admin, made)).state === "open");
  const shown = await createRunner(settingsFor(server, keys.admin)).succeed(
    ...["requests", "show", made.id],
  );
  assert.match(shown, /^ {2}approved by Ben.* at \S+ \(no longer counts\)$/m);
  assert.doesNotMatch(shown, /edited/);
});
