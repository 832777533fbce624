// Environments over the API: owners create, label, protect and delete them; nobody else does.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import type { Api } from "./support/api.ts";
import { readRows, writeRows } from "./support/database.ts";
import { signInAs } from "./support/people.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";
import { setCookieOf } from "./support/session.ts";
import { until } from "./support/until.ts";

const limit = 12;
let server: TestServer;
let home: TestEnvironment;
let owner: Api;
before(async () => {
  server = await startTestServer({ HALYARD_MAX_ENVIRONMENTS: String(limit) });
  home = await server.environment();
  owner = server.api(await home.newKey("owner"));
});
after(() => server.close());

interface Shown {
  readonly name: string;
  readonly role: string;
  readonly flags: number;
  readonly key?: { readonly id: string; readonly key: string };
}

const create = async (body: object, api = owner): Promise<Shown & { key: { key: string } }> => {
  const made = await api("POST", "/environments", body);
  assert.equal(made.status, 201, made.text);
  return made.body as Shown & { key: { key: string } };
};

const listed = async (api: Api): Promise<readonly Shown[]> =>
  (await api("GET", "/environments")).body as Shown[];

test("an owner key creates, labels, protects and deletes; the new key works at once", async () => {
  const { key, ...made } = await create({ name: "staging", label: "Staging" });
  const admin = server.api(key.key);
  const { createdAt: _, ...shown } = made as Shown & { createdAt: string };
  assert.deepEqual(shown, {
    name: "staging",
    label: "Staging",
    protected: false,
    expiresAt: null,
    maxFlips: null,
    flags: 0,
    role: "owner",
  });
  const own = (await admin("GET", "/key")).body as Record<string, unknown>;
  assert.deepEqual([own.name, own.role, own.environment], ["admin", "admin", "staging"]);
  assert.equal((await admin("POST", "/flags", { key: "a", type: "boolean" })).status, 201);

  const expiresAt = "2100-01-01T00:00:00.000Z";
  const change = { label: "Staging (Köln) 🚀", protected: true, expiresAt };
  const patched = await owner("PATCH", "/environments/staging", change);
  assert.equal(patched.status, 200, patched.text);
  assert.deepEqual(patched.body, { ...made, ...change, flags: 1 });
  const undone = { label: null, protected: false, expiresAt: null, maxFlips: null };
  const together = await owner("PATCH", "/environments/staging", undone);
  assertRefused(together, 409, "in a request of its own");
  assertRefused(await owner("PATCH", "/environments/staging", { expiresAt }), 409, "protected");
  assertRefused(await owner("DELETE", "/environments/staging?flags=true"), 409, "protected");
  const off = "/environments/staging?bypass=true&reason=a+test";
  assert.equal((await owner("PATCH", off, { protected: false })).status, 200);
  assert.equal((await owner("PATCH", "/environments/staging", undone)).status, 200);
  assert.equal((await owner("PATCH", "/environments/staging", {})).status, 200);
  const history = (await admin("GET", "/history?subject=environment")).body as {
    actions: string[];
    actor: { name: string };
    after: object;
  }[];
  assert.deepEqual(
    history.map(({ actions, actor, after }) => [actions, actor.name, after]),
    [
      [["environment.updated"], "owner", undone],
      [["environment.updated"], "owner", { name: "staging", protected: false }],
      [["environment.updated"], "owner", { ...change, maxFlips: null }],
      [["environment.created"], "owner", { ...undone, label: "Staging" }],
    ],
    "what changes nothing leaves nothing",
  );

  const refused = await owner("DELETE", "/environments/staging");
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.text, /holds 1 flag;/);
  assert.equal((await owner("DELETE", "/environments/staging?flags=true")).status, 204);
  assert.equal((await admin("GET", "/flags")).status, 401);
  assert.equal((await owner("DELETE", "/environments/staging")).status, 404);
  assert.equal((await owner("PATCH", "/environments/staging", {})).status, 404);
  assert.ok(!(await listed(owner)).some(({ name }) => name === "staging"));
});

test("what is wrong with a request is said", async () => {
  const past = "2020-01-01T00:00:00Z";
  for (const [body, message] of [
    [{}, /name/],
    [{ name: "Staging" }, /name must be 1 to 63 characters/],
    [{ name: "a", label: "" }, /label must be a text of 1 to 60/],
    [{ name: "a", label: "  " }, /label must be a text of 1 to 60/],
    [{ name: "a", label: "x".repeat(61) }, /label must be a text of 1 to 60/],
    [{ name: "a", label: "a\u0007b" }, /without control characters/],
    [{ name: "a", label: "a\u202eb" }, /without control characters/],
    [{ name: "a", protected: "yes" }, /protected must be true or false/],
    [{ name: "a", expiresAt: past }, /expiresAt must be in the future/],
    [{ name: "a", expiresAt: "soon" }, /expiresAt must be a time/],
    [{ name: "a", expiresIn: "soon" }, /expiresIn must be minutes, hours or days/],
    [{ name: "a", expiresIn: "7d", expiresAt: "2100-01-01" }, /give one of them/],
    [{ name: "a", copyOf: "nowhere" }, /copyOf names no environment/],
    [{ name: "a", surprise: 1 }, /surprise/],
  ] as const) {
    const answer = await owner("POST", "/environments", body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.match(answer.text, message);
  }
  const taken = await owner("POST", "/environments", { name: home.name });
  assert.equal(taken.status, 409);
  assert.match(taken.text, /already exists/);
  const patched = await owner("PATCH", `/environments/${home.name}`, { name: "other" });
  assert.equal(patched.status, 400, "the name stays");
  assert.ok(!(await listed(owner)).some(({ name }) => name === "a"));
});

test("everybody sees their own, owners all; only owners change them", async () => {
  const ada = await signInAs(server, { roles: { [home.name]: "viewer", production: "editor" } });
  const admin = await signInAs(server, { roles: { [home.name]: "admin" } });
  const boss = await signInAs(server, { owner: true });
  const all = (await listed(owner)).map(({ name }) => name);
  assert.ok(all.includes("development") && all.includes(home.name));
  const seen = async (api: Api) => (await listed(api)).map(({ name, role }) => [name, role]);
  const asOwner = all.map((name) => [name, "owner"]);
  assert.deepEqual(await seen(owner), asOwner);
  assert.deepEqual(await seen(boss.in(home.name)), asOwner);
  assert.deepEqual(await seen(home.server), [[home.name, "server"]]);
  assert.deepEqual(await seen(home.admin), [[home.name, "admin"]]);
  assert.deepEqual(await seen(admin.in(home.name)), [[home.name, "admin"]]);
  assert.deepEqual(await seen(ada.in(home.name)), [
    ["production", "editor"],
    [home.name, "viewer"],
  ]);
  assert.equal((await home.client("GET", "/environments")).status, 403);

  for (const [who, api] of [
    ["client", home.client],
    ["server", home.server],
    ["editor", server.api(await home.newKey("editor"))],
    ["admin", home.admin],
    ["a person who is a viewer", ada.in(home.name)],
    ["a person who is an editor", ada.in("production")],
    ["a person who is an admin", admin.in(home.name)],
  ] as const) {
    for (const [method, path, body] of [
      ["POST", "/environments", { name: "by-somebody" }],
      ["PATCH", `/environments/${home.name}`, { label: "Mine" }],
      ["DELETE", `/environments/${home.name}?flags=true`, undefined],
    ] as const) {
      const answer = await api(method, path, body);
      assert.equal(answer.status, 403, `${method} by ${who}`);
      assert.match(answer.text, /role owner/);
    }
  }

  // Every owner has access to what an owner creates, also those who are signed in.
  const made = await create({ name: "by-boss" }, boss.in(home.name));
  assert.equal((await boss.in("by-boss")("GET", "/flags")).status, 200);
  assert.equal((await ada.in("by-boss")("GET", "/flags")).status, 401);
  const [entry] = (await boss.in("by-boss")("GET", "/history?subject=environment")).body as {
    actor: { user?: { id: string } };
  }[];
  assert.equal(entry?.actor.user?.id, boss.userId);
  assert.equal((await owner("DELETE", `/environments/${made.name}`)).status, 204);
});

test("an owner key is issued by the operator, and revoked by an owner", async () => {
  const wanted = { name: "robot", role: "owner" };
  for (const api of [home.admin, owner]) {
    const answer = await api("POST", "/keys", wanted);
    assert.equal(answer.status, 400);
    assert.match(answer.text, /the operator issues keys with the role owner/);
  }
  const text = await home.newKey("owner");
  const keys = (await home.admin("GET", "/keys")).body as { id: string; role: string }[];
  const id = keys.filter(({ role }) => role === "owner").at(-1)?.id;
  assert.ok(text.includes(id ?? "none"), "an admin sees it");
  const refused = await home.admin("DELETE", `/keys/${id}`);
  assert.equal(refused.status, 403);
  assert.match(refused.text, /only an owner or the operator/);
  assert.equal((await server.api(text)("GET", "/key")).status, 200);
  assert.equal((await owner("DELETE", `/keys/${id}`)).status, 204);
  assert.equal((await server.api(text)("GET", "/key")).status, 401);
});

test("whoever came by the operator's link uses a new environment at once", async () => {
  const { pathname, search } = new URL(server.dashboardUrl ?? "");
  const cookie = setCookieOf(await server.anonymous("GET", `/${pathname}${search}`))?.pair ?? "";
  const session = async () =>
    (await server.anonymous("GET", "//session", undefined, { cookie })).body as {
      csrf: string;
      environments: { name: string }[];
    };
  const { csrf } = await session();
  const inside =
    (environment: string): Api =>
    (method, path, body) =>
      server.anonymous(method, path, body, {
        cookie,
        "x-halyard-csrf": csrf,
        "x-halyard-environment": environment,
      });
  await create({ name: "by-link" }, inside("development"));
  assert.ok((await session()).environments.some(({ name }) => name === "by-link"));
  assert.equal(
    (await inside("by-link")("POST", "/flags", { key: "a", type: "boolean" })).status,
    201,
  );
  const removed = await inside("development")("DELETE", "/environments/by-link?flags=true");
  assert.equal(removed.status, 204);
  assert.ok(!(await session()).environments.some(({ name }) => name === "by-link"));
});

test("a request that is repeated creates one, and its key is answered again", async () => {
  for (const [name, rest] of [
    ["once", {}],
    ["once-copied", { copyOf: home.name }],
  ] as const) {
    const headers = { "idempotency-key": name };
    const first = await owner("POST", "/environments", { name, ...rest }, headers);
    const second = await owner("POST", "/environments", { name, ...rest }, headers);
    assert.deepEqual([first.status, second.status], [201, 201], second.text);
    assert.deepEqual(second.body, first.body);
    assert.equal((await owner("DELETE", `/environments/${name}`)).status, 204);
  }
});

test("there are at most as many as the setting says, however many are created at once", async () => {
  const free = limit - (await listed(owner)).length;
  const names = Array.from({ length: free + 3 }, (_, index) => `many-${index}`);
  const made = await Promise.all(
    names.map((name, index) =>
      owner("POST", "/environments", { name, ...(index % 2 === 0 && { copyOf: home.name }) }),
    ),
  );
  const refused = made.filter(({ status }) => status === 409);
  assert.equal(refused.length, 3, made.map(({ status }) => status).join());
  assert.match(refused[0]?.text ?? "", /12 is the maximum \(HALYARD_MAX_ENVIRONMENTS\)/);
  await assert.rejects(server.environment(), /12 is the maximum/, "the operator's command too");
  for (const name of names) await owner("DELETE", `/environments/${name}`);
});

test("a large one is closed at once and deleted in the background", async () => {
  const { key } = await create({ name: "large" });
  const numbers =
    "with recursive numbers(number) as (select 1 union all select number + 1 from numbers where number < 12000)";
  await writeRows(
    server,
    `${numbers} insert into segment_members (environment_id, segment_key, list, member)
     select environments.id, 'beta', 'include', 'user-' || number from numbers, environments where name = ?`,
    "large",
  );
  const removed = await owner("DELETE", "/environments/large");
  assert.equal(removed.status, 202, removed.text);
  assert.equal((await server.api(key.key)("GET", "/flags")).status, 401);
  assert.ok(!(await listed(owner)).some(({ name }) => name === "large"));
  const again = await owner("POST", "/environments", { name: "large" });
  if (again.status !== 201) assert.match(again.text, /is being deleted/);
  await until("its name is free", async () => {
    const made = await owner("POST", "/environments", { name: "large" });
    return (
      [201, 409].includes(made.status) && (await listed(owner)).some((e) => e.name === "large")
    );
  });
  const [left] = await readRows(server, "select count(*) as count from segment_members");
  assert.equal(Number(left?.count), 0);
  assert.equal((await owner("DELETE", "/environments/large")).status, 204);
});

test("the last one is the operator's to delete", async (t) => {
  const alone = await startTestServer();
  t.after(() => alone.close());
  const made = await alone.environment();
  const boss = alone.api(await made.newKey("owner"));
  const others = ["development", "production"];
  for (const name of others) {
    assert.equal((await boss("DELETE", `/environments/${name}`)).status, 204);
  }
  const refused = await boss("DELETE", `/environments/${made.name}`);
  assert.equal(refused.status, 409);
  assert.match(refused.text, /is the last one; only the operator/);
});
