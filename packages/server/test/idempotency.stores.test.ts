// Idempotency-Key over real HTTP: the same POST twice is carried out once, and answered the same.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import type { Answer, Api } from "./support/api.ts";
import { readCounters, readRows, writeRows } from "./support/database.ts";
import { newFolder, startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const named = (name: string) => ({ "idempotency-key": name });
const replayed = (answer: Answer): string | null => answer.headers.get("idempotency-replayed");
const listOf = async (api: Api, path: string): Promise<unknown[]> =>
  (await api("GET", path)).body as unknown[];

const hook = "http://127.0.0.1:9/hook";
const posts: readonly [path: string, body: object, other: object, secret: string | undefined][] = [
  [
    "/flags",
    { key: "f", type: "rollout", percentage: 5 },
    { key: "f", type: "rollout", percentage: 6 },
    undefined,
  ],
  ["/webhooks", { url: hook, events: ["*"] }, { url: hook, events: ["flag.enabled"] }, "secret"],
  ["/keys", { name: "ci", role: "admin" }, { name: "ci", role: "client" }, "key"],
];

for (const [path, body, other, secret] of posts) {
  test(`POST ${path} twice with one key gives the first answer again, byte for byte, and makes one thing`, async () => {
    const { admin } = await server.environment();
    const earlier = (await listOf(admin, path)).length;
    const first = await admin("POST", path, body, named("once"));
    const again = await admin("POST", path, body, named("once"));
    assert.deepEqual([first.status, again.status], [201, 201]);
    assert.equal(again.text, first.text);
    assert.deepEqual([replayed(first), replayed(again)], [null, "true"]);
    assert.equal(again.headers.get("etag"), first.headers.get("etag"));
    assert.equal(again.headers.get("content-type"), first.headers.get("content-type"));
    assert.equal((await listOf(admin, path)).length, earlier + 1);
    if (secret !== undefined) {
      const value = (again.body as Record<string, unknown>)[secret];
      assert.ok(typeof value === "string" && value.length > 40);
    }
  });

  test(`POST ${path} with another body under the same key is 409, and the first answer stays`, async () => {
    const { admin } = await server.environment();
    const first = await admin("POST", path, body, named("once"));
    const made = (await listOf(admin, path)).length;
    const refused = await admin("POST", path, other, named("once"));
    assertRefused(refused, 409, '"once"');
    assert.equal(replayed(refused), null);
    assert.equal((await listOf(admin, path)).length, made);
    assert.equal((await admin("POST", path, body, named("once"))).text, first.text);
  });

  test(`10 times POST ${path} at once with one key make one thing and get one answer`, async () => {
    const { admin } = await server.environment();
    const earlier = (await listOf(admin, path)).length;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => admin("POST", path, body, named("once"))),
    );
    for (const { status } of answers) assert.equal(status, 201);
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    assert.equal(answers.filter((answer) => replayed(answer) === null).length, 1);
    assert.equal((await listOf(admin, path)).length, earlier + 1);
  });

  test(`the kept answer of POST ${path} cannot be read in the database`, async () => {
    const { admin, keys } = await server.environment();
    const name = `secret of ${path}`;
    const made = await admin("POST", path, body, named(name));
    const [row, ...more] = await readRows(
      server,
      "select * from idempotency_records where name = ?",
      name,
    );
    assert.ok(row && more.length === 0);
    const stored = Object.values(row)
      .map((value) => Buffer.from(value instanceof Uint8Array ? value : String(value)))
      .map((bytes) => `${bytes.toString("latin1")}\n${bytes.toString("utf16le")}`)
      .join("\n");
    const secrets = [
      keys.admin,
      ...Object.values(made.body as object).filter(
        (value): value is string => typeof value === "string" && value.length > 20,
      ),
    ];
    assert.ok(secrets.length > (secret === undefined ? 0 : 1));
    for (const text of secrets) assert.ok(!stored.includes(text.slice(-20)), text);
  });

  test(`the kept answer of POST ${path} survives a restart of the server`, async () => {
    const folder = newFolder();
    const key = "bootstrap-key-of-the-restart-test";
    const settings = { HALYARD_DATA: folder, HALYARD_BOOTSTRAP_KEYS: `development=${key}` };
    const once = async () => {
      const started = await startTestServer(settings);
      try {
        const api = started.api(key);
        const answer = await api("POST", path, body, named("once"));
        return { answer, count: (await listOf(api, path)).length };
      } finally {
        await started.close();
      }
    };
    try {
      const [first, again] = [await once(), await once()];
      assert.deepEqual([first.answer.status, again.answer.status], [201, 201]);
      assert.equal(again.answer.text, first.answer.text);
      assert.equal(replayed(again.answer), "true");
      assert.equal(again.count, first.count);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

test("the same request written differently is the same request", async () => {
  const { admin } = await server.environment();
  const first = await admin("POST", "/flags", '{"key":"f","type":"boolean"}', named("once"));
  const spaced = '{ "type" : "boolean",\n"key":"\\u0066" }';
  const again = await admin("POST", "/flags", spaced, named("once"));
  assert.deepEqual([again.status, again.text, replayed(again)], [201, first.text, "true"]);
});

test("the same key on another path is 409", async () => {
  const { admin } = await server.environment();
  const body = { name: "ci", role: "client" };
  assert.equal((await admin("POST", "/keys", body, named("once"))).status, 201);
  const flag = await admin("POST", "/flags", { key: "f", type: "boolean" }, named("once"));
  assertRefused(flag, 409, '"once"');
  const webhook = await admin("POST", "/webhooks", { url: hook, events: ["*"] }, named("once"));
  assertRefused(webhook, 409, '"once"');
  assert.deepEqual(await listOf(admin, "/flags"), []);
  assert.deepEqual(await listOf(admin, "/webhooks"), []);
});

test("the path counts even when the bodies are the same: one webhook's rotation is not another's", async () => {
  const { admin } = await server.environment();
  const rotate: string[] = [];
  for (const events of [["*"], ["flag.enabled"]]) {
    const made = await admin("POST", "/webhooks", { url: hook, events });
    rotate.push(`/webhooks/${(made.body as { id: string }).id}/secret/rotate`);
  }
  const [one = "", two = ""] = rotate;
  const first = await admin("POST", one, {}, named("once"));
  assert.equal(first.status, 200, first.text);
  assertRefused(await admin("POST", two, {}, named("once")), 409, '"once"');
  const again = await admin("POST", one, {}, named("once"));
  assert.deepEqual([again.status, again.text, replayed(again)], [200, first.text, "true"]);
});

test("other keys, no key, and other callers with the same key make things of their own", async () => {
  const { admin } = await server.environment();
  const other = await server.environment();
  const body = { url: hook, events: ["*"] };
  const issued = await admin("POST", "/keys", { name: "second", role: "admin" });
  const second = server.api((issued.body as { key: string }).key);
  const answers = [
    await admin("POST", "/webhooks", body, named("one")),
    await admin("POST", "/webhooks", body, named("two")),
    await admin("POST", "/webhooks", body, named("ONE")),
    await admin("POST", "/webhooks", body),
    await admin("POST", "/webhooks", body),
    await second("POST", "/webhooks", body, named("one")),
    await other.admin("POST", "/webhooks", body, named("one")),
  ];
  for (const answer of answers) assert.deepEqual([answer.status, replayed(answer)], [201, null]);
  assert.equal(new Set(answers.map((answer) => (answer.body as { id: string }).id)).size, 7);
});

test("a 409 is kept too: the answer stays the same when its reason is gone", async () => {
  const { admin } = await server.environment();
  const body = { key: "f", type: "boolean" };
  await admin("POST", "/flags", body);
  const refused = await admin("POST", "/flags", body, named("late"));
  assertRefused(refused, 409, '"f"');
  await admin("DELETE", "/flags/f");
  const again = await admin("POST", "/flags", body, named("late"));
  assert.deepEqual([again.status, again.text, replayed(again)], [409, refused.text, "true"]);
  assert.deepEqual(await listOf(admin, "/flags"), []);
});

test("the answer stays the same when the thing has been changed or deleted since", async () => {
  const { admin, name } = await server.environment();
  const body = { key: "f", type: "boolean" };
  const first = await admin("POST", "/flags", body, named("once"));
  await admin("PATCH", "/flags/f", { enabled: true });
  await admin("DELETE", "/flags/f");
  const earlier = await readCounters(server, name);
  const again = await admin("POST", "/flags", body, named("once"));
  assert.deepEqual([again.status, again.text], [201, first.text]);
  assert.equal(again.headers.get("etag"), '"1"');
  assert.deepEqual(await readCounters(server, name), earlier);
});

const mended: readonly [string, string, object, object][] = [
  ["the schema", "/flags", { key: "-", type: "boolean" }, { key: "f", type: "boolean" }],
  [
    "the rules of flags",
    "/flags",
    { key: "f", type: "boolean", percentage: 5 },
    { key: "f", type: "rollout", percentage: 5 },
  ],
  ["the list of events", "/webhooks", { url: hook, events: ["x"] }, { url: hook, events: ["*"] }],
  [
    "the rules of addresses",
    "/webhooks",
    { url: "http://10.0.0.1/", events: ["*"] },
    { url: hook, events: ["*"] },
  ],
  ["the roles", "/keys", { name: "ci", role: "root" }, { name: "ci", role: "server" }],
];
for (const [what, path, wrong, right] of mended) {
  test(`a 400 by ${what} is not kept: the mended POST ${path} goes through with the same key`, async () => {
    const { admin } = await server.environment();
    assertRefused(await admin("POST", path, wrong, named("once")), 400);
    const answer = await admin("POST", path, right, named("once"));
    assert.deepEqual([answer.status, replayed(answer)], [201, null]);
  });
}

test("an answer is kept for 24 hours and then forgotten", async () => {
  const { admin } = await server.environment();
  const body = { url: hook, events: ["*"] };
  const before = Date.now();
  const first = await admin("POST", "/webhooks", body, named("a day"));
  const [row] = await readRows(
    server,
    "select expires_at from idempotency_records where name = 'a day'",
  );
  const kept = Number(row?.expires_at) - 24 * 60 * 60 * 1_000;
  assert.ok(before <= kept && kept <= Date.now());
  await writeRows(
    server,
    "update idempotency_records set expires_at = ? where name = 'a day'",
    Date.now(),
  );
  const later = await admin(
    "POST",
    "/webhooks",
    { ...body, events: ["flag.enabled"] },
    named("a day"),
  );
  assert.deepEqual([later.status, replayed(later)], [201, null]);
  assert.notEqual((later.body as { id: string }).id, (first.body as { id: string }).id);
});

for (const name of ["", "x".repeat(256), "ä", "a\tb"]) {
  const shown = name.length > 20 ? `${name.length} characters` : JSON.stringify(name);
  test(`an Idempotency-Key of ${shown} is refused with 400 on every POST`, async () => {
    const { admin } = await server.environment();
    for (const [path, body] of posts) {
      const earlier = (await listOf(admin, path)).length;
      assertRefused(await admin("POST", path, body, named(name)), 400, "Idempotency-Key");
      assert.equal((await listOf(admin, path)).length, earlier);
    }
  });
}

test("the longest Idempotency-Key, and one with spaces and signs, are fine", async () => {
  const { admin } = await server.environment();
  const body = { name: "ci", role: "client" };
  for (const name of ["x".repeat(255), `a b,"c"; {d}~'%`]) {
    const first = await admin("POST", "/keys", body, named(name));
    assert.equal(first.status, 201, first.text);
    assert.equal((await admin("POST", "/keys", body, named(name))).text, first.text);
  }
});
