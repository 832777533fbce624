// Rows that a caller can make without end have a bound: keys, revoked keys, idempotency records.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import { readRows, writeRows } from "./support/database.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

/** So many numbers as a table, without the time to make each row by a request. */
const numbers = (count: number) =>
  `with recursive numbers(number) as (select 1 union all select number + 1 from numbers where number < ${count})`;
const countOf = async (text: string, ...values: string[]): Promise<number> =>
  Number((await readRows(server, `select count(*) as n from ${text}`, ...values))[0]?.n);

/** Copies of the environment's client key. */
const addKeys = (
  environment: string,
  prefix: string,
  count: number,
  revokedAt: string,
  given = 0,
) =>
  writeRows(
    server,
    `${numbers(count)}
     insert into api_keys (id, environment_id, name, role, hash, created_at, revoked_at, given)
     select '${prefix}' || number, environment_id, api_keys.name, role,
       cast('${prefix}' || number as blob),
       api_keys.created_at, ${revokedAt}, ${given}
     from numbers, api_keys join environments on environments.id = environment_id
     where environments.name = ? and role = 'client' and api_keys.id not like 'more%'
       and api_keys.id not like 'old%'`,
    environment,
  );

test("an environment holds 500 keys; the next needs one to be revoked", async () => {
  const { admin, name } = await server.environment();
  const body = { name: "another", role: "server" };
  await addKeys(name, "more", 496, "null");
  assert.equal((await admin("POST", "/keys", body)).status, 201);
  assertRefused(await admin("POST", "/keys", body), 409, name, "500 API keys", "revoke one");
  assert.equal((await admin("DELETE", "/keys/more7")).status, 204);
  assert.equal((await admin("POST", "/keys", body)).status, 201);
  assertRefused(await admin("POST", "/keys", body), 409);
});

test("the keys that were revoked first are forgotten, but never one that the operator gave", async () => {
  const { admin, name } = await server.environment();
  await addKeys(name, "old", 600, "number");
  await addKeys(name, "oldgiven", 3, "number", 1);
  const made = await admin("POST", "/keys", { name: "short-lived", role: "server" });
  const { id } = made.body as { id: string };
  assert.equal((await admin("DELETE", `/keys/${id}`)).status, 204);
  assert.equal(await countOf("api_keys where id like 'old%' and given = 0"), 499);
  assert.equal(await countOf("api_keys where id = ?", id), 1);
  assert.equal(await countOf("api_keys where id = ?", "old101"), 0);
  assert.equal(await countOf("api_keys where id = ?", "old102"), 1);
  assert.equal(await countOf("api_keys where id like 'oldgiven%'"), 3);
});

test("a key has 20,000 idempotency records at most; the newest still answer", async () => {
  const { admin } = await server.environment();
  const keys = (await admin("GET", "/keys")).body as { id: string; role: string }[];
  const keyId = keys.find(({ role }) => role === "admin")?.id ?? "";
  const post = (name: string) =>
    admin("POST", "/flags", { key: "taken", type: "boolean" }, { "idempotency-key": name });
  await post("first");
  await writeRows(
    server,
    `${numbers(20_500)}
     insert into idempotency_records (key_id, name, fingerprint, sealed, expires_at)
     select key_id, 'more' || number, fingerprint, sealed, expires_at - 1000000 + number
     from numbers, idempotency_records where key_id = ?`,
    keyId,
  );
  for (let begin = 0; begin < 100; begin += 20) {
    const names = Array.from({ length: 20 }, (_, index) => `later-${begin + index}`);
    for (const { status } of await Promise.all(names.map(post))) assert.equal(status, 409);
  }
  const left = await countOf("idempotency_records where key_id = ?", keyId);
  assert.ok(left <= 20_100, `${left}`);
  assert.equal(
    await countOf("idempotency_records where key_id = ? and name = ?", keyId, "more1"),
    0,
  );
  for (const [name, status] of [
    ["first", 201],
    ["later-99", 409],
  ] as const) {
    const again = await post(name);
    assert.deepEqual([again.status, again.headers.get("idempotency-replayed")], [status, "true"]);
  }
});
