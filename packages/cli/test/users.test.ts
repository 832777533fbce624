// halyard users: on a server with an owner key, and in its database without one.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { InvitedUser, User } from "@halyard/sdk/management";
import {
  codeNeeded,
  headersOf,
  newAccount,
  signedIn,
  signIn,
} from "../../server/test/support/accounts.ts";
import { writeRows } from "../../server/test/support/database.ts";
import { turnOnSecondFactor } from "../../server/test/support/second-factor.ts";
import {
  startTestServer,
  type TestEnvironment,
  type TestServer,
} from "../../server/test/support/server.ts";
import { storeSettings } from "../../server/test/support/test-store.ts";
import { type CommandRunner, createRunner, settingsFor } from "./support/command-runner.ts";

let server: TestServer;
let environment: TestEnvironment;
let halyard: CommandRunner;
let operator: CommandRunner;

before(async () => {
  server = await startTestServer();
  environment = await server.environment();
  halyard = createRunner(settingsFor(server, await environment.newKey("owner")));
  operator = halyard.with({
    ...(await storeSettings(server.folder)),
    HALYARD_URL: "",
    HALYARD_API_KEY: "",
  });
});
after(() => server.close());

test("users are invited, changed, listed and removed, on a server and in its database", async () => {
  const { name: place } = environment;
  for (const [runner, who, where] of [
    [halyard, "Ada Lovelace", ` at ${server.url}`],
    [operator, "Grace Hopper", " in the database \\S+"],
  ] as const) {
    const email = `${who.slice(0, 3).toLowerCase()}@example.com`;
    const made = await runner.run(
      ...["users", "invite", who, "--email", email, "--role", `${place}=viewer`],
    );
    assert.equal(made.code, 0, made.stderr);
    assert.match(made.stdout, /^http:\/\/127\.0\.0\.1:\d+\/invitation\?token=[\w-]{43}\n$/);
    assert.match(
      made.stderr,
      new RegExp(
        `^Send this link to ${who}, who has an account${where}\\. It works once, until \\S+Z`,
      ),
    );
    assert.match(
      await runner.succeed("users", "list"),
      new RegExp(`^usr_\\w+ +${who} +${email} +${place}=viewer +invited +never$`, "m"),
    );
    const say = (role: string) => new RegExp(`^${who} has these roles${where}: ${role}\\.\n$`);
    const upper = email.toUpperCase();
    for (const [args, roles] of [
      [[upper, place, "admin"], `${place}=admin`],
      [[who, place, "none"], "none"],
      [[email, "--owner"], "owner"],
      [[email, place, "editor", "--no-owner"], `${place}=editor`],
    ] as const) {
      assert.match(await runner.succeed("users", "role", ...args), say(roles));
    }
    const link = await runner.read<{ id: string; url: string }>("users", "link", email);
    assert.match(link.url, /\/invitation\?token=/);
    assert.notEqual(link.url, made.stdout.trim());
    assert.match(
      await runner.succeed("users", "remove", link.id),
      new RegExp(`^Removed ${who} \\(usr_\\w+\\)${where}\\.\n$`),
    );
    await runner.refuse(["users", "remove", link.id], 3, /halyard users list/);
  }
});

test("accounts of one person are linked and unlinked, on a server and in its database", async () => {
  for (const [runner, name] of [
    [halyard, "Edith"],
    [operator, "Joan"],
  ] as const) {
    const email = `${name.toLowerCase()}@example.com`;
    const one = await runner.read<InvitedUser>("users", "invite", name, "--email", email);
    const two = await runner.read<InvitedUser>("users", "invite", `${name} again`);
    await writeRows(
      server,
      `insert into user_addresses (user_id, hash, since)
       select '${two.id}', hash, since from user_addresses where user_id = ?`,
      one.id,
    );
    const hint = "have the same email address: link them with halyard users link-accounts";
    assert.ok((await runner.run("users", "list")).stderr.includes(hint));
    assert.ok(
      (await runner.succeed("users", "link-accounts", email, two.id)).startsWith(
        `${name} (${one.id}) and ${name} again (${two.id}) now belong to the same person `,
      ),
    );
    assert.ok(!(await runner.run("users", "list")).stderr.includes(hint));
    const linked = await runner.read<User>("users", "link-accounts", two.id, one.id);
    assert.deepEqual(linked.linked, [one.id]);
    await runner.refuse(["users", "link-accounts", email, email], 2, /another account/);
    assert.ok(
      (await runner.succeed("users", "unlink-account", two.id)).startsWith(
        `${name} again (${two.id}) is no longer linked to other accounts `,
      ),
    );
    for (const { id } of [one, two]) await runner.succeed("users", "remove", id);
  }
});

test("the same as JSON", async () => {
  const invite = ["users", "invite", "Alan", "--owner"];
  const { invitation, ...made } = await halyard.read<InvitedUser>(...invite);
  assert.ok(invitation.url.startsWith(`${server.url}/invitation?token=`));
  const { server: _, ...user } = made as typeof made & { server: string };
  const listed = await operator.read<User[]>("users", "list");
  assert.deepEqual(
    listed.find(({ id }) => id === user.id),
    user,
  );
  assert.partialDeepStrictEqual(await operator.read("users", "remove", user.id), {
    id: user.id,
    removed: true,
  });
});

test("missing permissions, missing users and conflicting options", async () => {
  const admin = halyard.with({ HALYARD_API_KEY: environment.keys.admin });
  await admin.refuse(["users", "list"], 4, /role owner/);
  await halyard.refuse(["users", "link", "unknown"], 3, /No user has the id/);
  await halyard.succeed("users", "invite", "Twin", "--email", "twin@example.com");
  await operator.succeed("users", "invite", "Twin");
  await halyard.refuse(["users", "remove", "Twin"], 5, /2 users/);
  const again = ["users", "invite", "Other", "--email", "TWIN@example.com"];
  await halyard.refuse(again, 5, /already has the e-mail address/);
  await operator.refuse(again, 5, /already has the e-mail address/);
  for (const [args, message] of [
    [["invite", "X", "--role", "production"], /production=editor/],
    [["invite", "X", "--role", "production=owner"], /production=editor/],
    [["invite", "X", "--role", "nowhere=viewer"], /environment that exists/],
    [["invite", "X", "--email", "no address"], /e-mail address/],
    [["role", "Twin"], /Specify an environment and a role/],
    [["role", "Twin", "production"], /Specify a role/],
    [["role", "Twin", "production", "root"], /choices are viewer/],
    [["list", "--database", "--url", server.url], /use only one of them/],
  ] as const) {
    await halyard.refuse(["users", ...args], 2, message);
  }
});

test("the doctor does not count users as keys", async () => {
  await operator.succeed("users", "invite", "Owner", "--owner");
  const { stdout } = await operator.run("doctor");
  assert.match(stdout, /keys: 6 keys in 3 environments/);
});

test("the operator can turn off two-factor authentication for a user; a key can't", async () => {
  const account = await newAccount(server);
  const { email } = account;
  const reset = ["users", "reset-second-factor", email] as const;
  assert.match((await operator.run(...reset)).stderr, /has no second factor/);
  const { session } = await turnOnSecondFactor(server, account.session, () => new Date());
  codeNeeded(await signIn(server, account));
  assert.match(
    await operator.succeed(...reset),
    /^Turned off two-factor authentication for .* in the database \S+, and ended their sessions/,
  );
  await signedIn(server, account);
  const { status } = await server.anonymous("GET", "//session", undefined, headersOf(session));
  assert.equal(status, 401);
});
