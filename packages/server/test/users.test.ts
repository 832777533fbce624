// People: their accounts and what they may do.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { composeOperator, parseConfig } from "@halyard/server";
import { insertIdentity, listUsers } from "../src/features/people/queries.ts";
import { operator as operatorActor } from "../src/platform/auth/principal.ts";
import type { Answer } from "./support/api.ts";
import { signInAs, withStore } from "./support/people.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { signInWith } from "./support/session.ts";
import { storeSettings } from "./support/test-store.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("a person does in an environment what their role there allows", async () => {
  const { name } = await server.environment();
  const ada = await signInAs(server, { roles: { [name]: "editor" } });
  const flag = { key: "ada", type: "boolean" };
  assert.equal((await ada.in(name)("POST", "/flags", flag)).status, 201);
  assert.equal((await ada.in(name)("GET", "/keys")).status, 403);
  assert.equal((await ada.in("production")("GET", "/flags")).status, 401);
});

interface Person {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly owner: boolean;
  readonly roles: Readonly<Record<string, string>>;
  readonly state: string;
  readonly invitation: { readonly url: string; readonly expiresAt: string };
}

const personIn = ({ status, text, body }: Answer, expected = 201): Person => {
  assert.equal(status, expected, text);
  return body as Person;
};

test("an owner invites people, changes what they may do and removes them; environments remember it", async () => {
  const { name, admin } = await server.environment();
  const other = await server.environment();
  const root = (await signInAs(server, { name: "Root", owner: true })).in(name);

  const made = personIn(
    await root("POST", "/users", {
      name: "Bea",
      email: "bea@example.com",
      roles: { [name]: "viewer" },
    }),
  );
  const { invitation, ...bea } = made;
  assert.match(invitation.url, new RegExp(`^${server.url}/invitation\\?token=[\\w-]{43}$`));
  const days = (Date.parse(invitation.expiresAt) - Date.now()) / 86_400_000;
  assert.ok(days > 6.9 && days <= 7, String(days));
  assert.equal(bea.state, "invited");
  const listed = (await root("GET", "/users")).body as readonly Person[];
  assert.deepEqual(
    listed.find(({ id }) => id === bea.id),
    bea,
  );

  const path = `/users/${bea.id}`;
  const changed = personIn(
    await root("PATCH", path, { roles: { [name]: "admin", [other.name]: "editor" } }),
    200,
  );
  assert.deepEqual(changed.roles, { [name]: "admin", [other.name]: "editor" });
  assert.deepEqual(personIn(await root("PATCH", path, { roles: { [name]: null } }), 200).roles, {
    [other.name]: "editor",
  });
  const raised = personIn(await root("PATCH", path, { owner: true }), 200);
  assert.deepEqual([raised.owner, raised.roles], [true, {}]);
  const lowered = personIn(
    await root("PATCH", path, { owner: false, roles: { [name]: "viewer" } }),
    200,
  );
  assert.deepEqual([lowered.owner, lowered.roles], [false, { [name]: "viewer" }]);
  assert.equal((await root("DELETE", path)).status, 204);
  assert.equal((await root("DELETE", path)).status, 404);

  const entries = (await admin("GET", `/history?subject=user&id=${bea.id}`)).body as readonly {
    actions: string[];
    actor: { keyId: string | null; name: string };
    before: { role: string } | null;
    after: { role: string } | null;
  }[];
  assert.deepEqual(
    entries.map(({ actions, before, after }) => [...actions, before?.role, after?.role]),
    [
      ["user.removed", "viewer", undefined],
      ["user.role_changed", "owner", "viewer"],
      ["user.added", undefined, "owner"],
      ["user.removed", "admin", undefined],
      ["user.role_changed", "viewer", "admin"],
      ["user.added", undefined, "viewer"],
    ],
  );
  assert.deepEqual([entries[0]?.actor.keyId, entries[0]?.actor.name], [null, "Root"]);
});

test("an address belongs to one person, however it is written", async () => {
  const { name } = await server.environment();
  const root = (await signInAs(server, { owner: true })).in(name);
  const invite = async (email: string) =>
    (await root("POST", "/users", { name: "C", email })).status;
  assert.equal(await invite("Cara@bücher.example.com"), 201);
  for (const same of [
    "cara@BÜCHER.example.com",
    "CARA@xn--bcher-kva.example.com",
    " cara@bücher.example.com ",
  ]) {
    assert.equal(await invite(same), 409, same);
  }
  assert.equal(await invite("admin@example.com"), 201);
  // The dotless i is a capital I as well.
  for (const same of ["ADMIN@example.com", "admın@example.com"]) {
    assert.equal(await invite(same), 409, same);
  }
  assert.equal(await invite("σοφος@example.com"), 201);
  assert.equal(await invite("ΣΟΦΟΣ@EXAMPLE.COM"), 409);
  for (const wrong of [
    "ａdmin@example.com",
    "ad\u200bmin@example.com",
    "\u212aim@example.com",
    "no address",
    "a@b@example.com",
    "a@example.com/x",
    "a@127.0.0.1",
    "a@localhost",
    "",
    `${"a".repeat(250)}@example.com`,
  ]) {
    assert.equal(await invite(wrong), 400, wrong);
  }
});

test("mistakes in a person are refused, and nothing has changed", async () => {
  const { name } = await server.environment();
  const owner = await signInAs(server, { name: "Dan", owner: true });
  const root = owner.in(name);
  const before = await root("GET", "/users");
  for (const wrong of [
    { name: "" },
    { name: " \t" },
    { name: "two\nlines" },
    { name: "\u202eevil" },
    { name: "x".repeat(101) },
    { name: "E", roles: { nowhere: "viewer" } },
    { name: "E", roles: { [name]: "owner" } },
    { name: "E", roles: { [name]: null } },
    { name: "E", owner: true, roles: { [name]: "viewer" } },
    { name: "E", password: "secret" },
    '{"name":"E","roles":{"__proto__":"viewer"}}',
  ]) {
    assert.equal((await root("POST", "/users", wrong)).status, 400, JSON.stringify(wrong));
  }
  assert.equal((await root("PATCH", "/users/usr_none", { name: "E" })).status, 404);
  assert.equal((await root("POST", "/users/usr_none/invitation")).status, 404);
  assert.deepEqual((await root("GET", "/users")).body, before.body);
});

test("an owner has access to an environment that is made later, and to those of before", async () => {
  const owner = await signInAs(server, { name: "Eve", owner: true });
  const later = await server.environment();
  assert.equal((await owner.in(later.name)("GET", "/users")).status, 200);
  const entries = (await later.admin("GET", "/history?subject=user")).body as { subject: string }[];
  assert.ok(entries.length > 0);
  const operator = await composeOperator(parseConfig(await storeSettings(server.folder)));
  await operator.environments.remove(later.name, false);
  const [removed] = await operator.environments.removed();
  await operator.close();
  assert.equal(removed?.keys, 3, "people are not counted as keys");
  // The operator's command is another process: the server hears of its change a moment later.
  const ask = owner.in(later.name);
  await until("no access any more", async () => (await ask("GET", "/users")).status === 401);
});

test("the last owner who can sign in stays one, also when two remove each other at once", async () => {
  const own = await startTestServer();
  try {
    const one = await signInAs(own, { name: "One", owner: true });
    const root = one.in("production");
    // An invited owner has no way to sign in yet.
    const invited = personIn(await root("POST", "/users", { name: "Invited", owner: true }));
    const issuer = "https://id.example.com";
    const identify = (subject: string) =>
      withStore(own, (store) =>
        store.transact((transaction) => insertIdentity(transaction, subject, { issuer, subject })),
      );
    await identify(one.userId);
    const path = `/users/${one.userId}`;
    assert.equal((await root("DELETE", path)).status, 409);
    assert.equal((await root("PATCH", path, { owner: false })).status, 409);
    assert.equal((await root("PATCH", path, { name: "Uno", owner: true })).status, 200);
    assert.equal((await root("DELETE", `/users/${invited.id}`)).status, 204);

    const two = await signInAs(own, { name: "Two", owner: true });
    await identify(two.userId);
    const statuses = await Promise.all([
      root("DELETE", `/users/${two.userId}`),
      two.in("production")("DELETE", path),
    ]);
    // The one that comes second is the last owner, or is told that they are not signed in any more.
    assert.equal(statuses.filter(({ status }) => status === 204).length, 1);
    const left = await withStore(own, (store) => listUsers(store));
    assert.deepEqual(
      left.map(({ isOwner }) => isOwner),
      [true],
    );

    const operator = await composeOperator(parseConfig(await storeSettings(own.folder)));
    const id = left[0]?.id ?? "";
    const removed = await operator.users.remove({ actor: operatorActor }, id);
    await operator.close();
    assert.ok(removed.ok);
  } finally {
    await own.close();
  }
});

test("a link for one person signs nobody in as the operator", async () => {
  const { name } = await server.environment();
  const root = (await signInAs(server, { owner: true })).in(name);
  const { invitation } = personIn(
    await root("POST", "/users", { name: "Fay", roles: { [name]: "viewer" } }),
  );
  const token = new URL(invitation.url).searchParams.get("token");
  const answer = await server.anonymous("GET", `//sign-in?once=${token}`);
  assert.equal(answer.headers.get("location"), "/sign-in?link=expired");
  assert.deepEqual(answer.headers.getSetCookie(), []);
});

test("a session says who is signed in, also to somebody without any environment", async () => {
  const { name, keys } = await server.environment();
  const session = async ({ cookie }: { readonly cookie: string }) =>
    (await server.anonymous("GET", "//session", undefined, { cookie })).body as {
      user: object | null;
      isOwner: boolean;
      method: string;
      signedInAt: string;
      environments: readonly { name: string; permissions: string[] }[];
    };
  const gil = await signInAs(server, {
    name: "Gil",
    email: "gil@example.com",
    roles: { [name]: "viewer" },
  });
  const { user, isOwner, method, signedInAt, environments } = await session(gil);
  const parts = { hasPassword: false, hasSecondFactor: false, providers: [] };
  assert.deepEqual(user, {
    ...{ id: gil.userId, name: "Gil", email: "gil@example.com", isOwner: false },
    ...parts,
  });
  assert.deepEqual([isOwner, method, typeof signedInAt], [false, "password", "string"]);
  const [only] = environments;
  assert.partialDeepStrictEqual(only, {
    ...{ name, label: null, protected: false, role: "viewer", keyName: "Gil" },
  });
  assert.ok(
    only?.permissions.includes("history.read") && !only.permissions.includes("flags.write"),
  );

  const none = await session(await signInAs(server, { name: "Hal" }));
  assert.deepEqual([none.environments, none.isOwner], [[], false]);
  const owner = await session(await signInAs(server, { name: "Ivy", owner: true }));
  assert.equal(owner.isOwner, true);
  assert.ok(owner.environments.some((each) => each.name === name));
  const byKey = await session(await signInWith(server, [keys.admin]));
  assert.deepEqual([byKey.user, byKey.isOwner, byKey.method], [null, false, "key"]);
});

test("events name the person, and their address only when that is switched on", async () => {
  const email = "jo@example.com";
  const actorsOn = async (own: TestServer) => {
    const { name, admin } = await own.environment();
    const jo = await signInAs(own, { name: "Jo", email, roles: { [name]: "editor" } });
    await jo.in(name)("POST", "/flags", { key: "a", type: "boolean" });
    const [event] = (await admin("GET", "/events")).body as { actor: unknown }[];
    const [entry] = (await admin("GET", "/history?subject=flag")).body as { actor: unknown }[];
    const user = { id: jo.userId, name: "Jo" };
    assert.deepEqual(entry?.actor, { keyId: null, name: "Jo", user });
    return { told: event?.actor, user };
  };
  const { told, user } = await actorsOn(server);
  assert.deepEqual(told, { keyId: null, name: "Jo", user });
  const open = await startTestServer({ HALYARD_EVENT_EMAILS: "on" });
  try {
    const on = await actorsOn(open);
    assert.deepEqual(on.told, { keyId: null, name: "Jo", user: { ...on.user, email } });
  } finally {
    await open.close();
  }
});
