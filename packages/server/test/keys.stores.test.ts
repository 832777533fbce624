// API keys over real HTTP: issued by other keys, shown and revoked.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { composeOperator, parseConfig } from "@halyard/server";
import { assertRefused } from "./support/answers.ts";
import type { Api } from "./support/api.ts";
import { readContents, readRows } from "./support/database.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { storeSettings } from "./support/test-store.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

interface Key {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
  readonly expiresAt: string | null;
  readonly origins: readonly string[] | null;
}

const fields = ["id", "name", "role", "createdAt", "lastUsedAt", "expiresAt", "origins", "user"];

const list = async (admin: Api): Promise<Key[]> => {
  const answer = await admin("GET", "/keys");
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Key[];
};

const create = async (admin: Api, name: string, role: string) => {
  const made = await admin("POST", "/keys", { name, role });
  assert.equal(made.status, 201, made.text);
  return made.body as Key & { readonly key: string };
};

const idOf = async (admin: Api, name: string): Promise<string> => {
  const id = (await list(admin)).find((key) => key.name === name)?.id;
  assert.ok(id, `there is no key ${name}`);
  return id;
};

test("the list shows id, name, role and createdAt of each valid key, oldest first", async () => {
  const { admin, keys } = await server.environment();
  // Keys that were made within one millisecond have no order.
  for (const made = Date.now(); Date.now() === made; );
  const made = await create(admin, "ci", "server");
  const shown = await list(admin);
  assert.deepEqual(shown.map(({ name, role }) => `${name} ${role}`).sort(), [
    "admin admin",
    "ci server",
    "client client",
    "server server",
  ]);
  const { key: text, ...rest } = made;
  assert.deepEqual(shown.at(-1), rest);
  for (const key of shown) {
    assert.deepEqual(Object.keys(key), fields);
    assert.match(key.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
  for (const secret of [text, ...Object.values(keys)]) {
    assert.ok(!JSON.stringify(shown).includes(secret.slice(-43)));
  }
});

test("a new key has the form hal_<id>_<secret> with 256 bits, works at once and within its role", async () => {
  const { admin } = await server.environment();
  const statuses: Readonly<Record<string, readonly number[]>> = {
    admin: [200, 200],
    server: [200, 403],
    client: [403, 403],
  };
  for (const [role, expected] of Object.entries(statuses)) {
    const made = await create(admin, `new ${role}`, role);
    assert.deepEqual(Object.keys(made), [...fields, "key"]);
    const [, id, secret = ""] = /^hal_([0-9a-f]+)_([A-Za-z0-9_-]+)$/.exec(made.key) ?? [];
    assert.equal(id, made.id);
    assert.equal(Buffer.from(secret, "base64url").length, 32);
    const api = server.api(made.key);
    const answers = [await api("GET", "/flags"), await api("GET", "/keys")];
    assert.deepEqual(
      answers.map(({ status }) => status),
      expected,
      role,
    );
  }
});

test("a key is created from a name and a role, and from nothing else", async () => {
  const { admin } = await server.environment();
  const ids = async () => (await list(admin)).map(({ id }) => id);
  const before = await ids();
  const role = "server";
  const refusals: [unknown, ...string[]][] = [
    [{}, "name", "role"],
    [{ name: "a" }, "role is required"],
    [{ role }, "name is required"],
    [{ name: "", role }, "name"],
    [{ name: "   ", role }, "name"],
    [{ name: "a".repeat(101), role }, "name", "100"],
    [{ name: null, role }, "name"],
    [{ name: 7, role }, "name"],
    [{ name: "a", role: "root" }, "role", "client, server, editor, admin"],
    [{ name: "a", role: "Admin" }, "role"],
    [{ name: "a", role: "constructor" }, "role"],
    [{ name: "a", role: ["admin"] }, "role"],
    [{ name: "a", role, key: "hal_mine_0123456789" }, "key"],
    [{ name: "a", role, environment: "production" }, "environment"],
    [{ name: "a", role, id: "mine" }, "id"],
    [{ name: "a", role, expiresAt: "tomorrow" }, "expiresAt", "2026-11-14T12:00:00Z"],
    [{ name: "a", role, expiresAt: "2026-01-01T00:00:00" }, "expiresAt"],
    [{ name: "a", role, expiresAt: 4_102_444_800_000 }, "expiresAt"],
    [{ name: "a", role, expiresAt: "2020-01-01T00:00:00Z" }, "expiresAt", "in the future"],
    [{ name: "a", role, origins: ["https://a.example"] }, "origins", "role client"],
    [{ name: "a", role: "client", origins: [] }, "origins"],
    [{ name: "a", role: "client", origins: "https://a.example" }, "origins"],
    [{ name: "a", role: "client", origins: Array(21).fill("https://a.example") }, "origins", "20"],
    ...[
      "a.example",
      "https://a.example/x",
      "https://*.example",
      "null",
      "*",
      "ftp://a.example",
    ].map((origin): [unknown, ...string[]] => [
      { name: "a", role: "client", origins: [origin] },
      "origins",
      "https://app.example.com",
    ]),
  ];
  for (const [body, ...words] of refusals) {
    assertRefused(await admin("POST", "/keys", body), 400, ...words);
  }
  assert.deepEqual(await ids(), before);
  assert.equal((await create(admin, "a".repeat(100), role)).name.length, 100);
});

test("only the SHA-256 of a key is kept; no file holds its text or its secret", async () => {
  const { admin, keys } = await server.environment();
  const body = { name: "kept answer", role: "admin" };
  const made = await admin("POST", "/keys", body, { "idempotency-key": "once" });
  const { id, key } = made.body as Key & { key: string };
  const [row] = await readRows(server, "select * from api_keys where id = ?", id);
  assert.ok(row);
  assert.deepEqual(Buffer.from(row.hash as Uint8Array), createHash("sha256").update(key).digest());
  const contents = [...(await readContents(server)).values()];
  assert.ok(contents.some((bytes) => bytes.includes(id)));
  for (const text of [key, keys.admin, keys.server, keys.client]) {
    const secret = text.slice(-43);
    for (const form of [secret, Buffer.from(secret, "base64url")]) {
      assert.ok(!contents.some((bytes) => bytes.includes(form)), "a file holds a key");
    }
  }
});

test("a revoked key is refused at once and leaves the list; a missing one is 404 by its id", async () => {
  const { admin, server: reader } = await server.environment();
  assert.equal((await reader("GET", "/flags")).status, 200);
  const id = await idOf(admin, "server");
  const revoked = await admin("DELETE", `/keys/${id}`);
  assert.deepEqual([revoked.status, revoked.text], [204, ""]);
  assertRefused(await reader("GET", "/flags"), 401, "revoked");
  assert.ok(!(await list(admin)).some((key) => key.id === id));
  assertRefused(await admin("DELETE", `/keys/${id}`), 404, `"${id}"`);
  for (const missing of ["0123456789abcdef", "nonsense", "a b"]) {
    const path = `/keys/${encodeURIComponent(missing)}`;
    assertRefused(await admin("DELETE", path), 404, `"${missing}"`);
  }
});

test("a key sees and revokes keys of its own environment only", async () => {
  const [here, there] = [await server.environment(), await server.environment()];
  const foreign = await idOf(there.admin, "server");
  assertRefused(await here.admin("DELETE", `/keys/${foreign}`), 404, `"${foreign}"`);
  assert.ok(!(await list(here.admin)).some(({ id }) => id === foreign));
  assert.equal((await there.server("GET", "/flags")).status, 200);
});

test("the last admin key of an environment cannot be revoked, not even by two at once", async () => {
  const { admin } = await server.environment();
  const own = await idOf(admin, "admin");
  assertRefused(await admin("DELETE", `/keys/${own}`), 409, own, "last admin key");
  assert.equal((await admin("GET", "/keys")).status, 200);

  const second = await create(admin, "second", "admin");
  const other = server.api(second.key);
  const answers = await Promise.all([
    admin("DELETE", `/keys/${second.id}`),
    other("DELETE", `/keys/${own}`),
    admin("DELETE", `/keys/${own}`),
    other("DELETE", `/keys/${second.id}`),
  ]);
  const done = answers.filter(({ status }) => status === 204);
  assert.equal(done.length, 1, answers.map(({ status }) => status).join());
  const left = [await admin("GET", "/keys"), await other("GET", "/keys")];
  assert.deepEqual(new Set(left.map(({ status }) => status)), new Set([200, 401]));
});

test("a key that the operator revokes beside the server is refused soon", async (t) => {
  const { name, server: reader, admin } = await server.environment();
  assert.equal((await reader("GET", "/flags")).status, 200);
  const id = await idOf(admin, "server");
  const operator = await composeOperator(parseConfig(await storeSettings(server.folder)));
  t.after(() => operator.close());
  const environment = await operator.environments.find(name);
  assert.ok(environment.ok);
  assert.ok((await operator.keys.revokeAsOperator(environment.value.id, id)).ok);
  const refused = await until("it is refused", async () => {
    const answer = await reader("GET", "/flags");
    return answer.status === 200 ? undefined : answer;
  });
  assertRefused(refused, 401);
});
