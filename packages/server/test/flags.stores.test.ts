// Flags over real HTTP: every row of the interface about their states, shapes and absence.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import { readCounters, writeRows } from "./support/database.ts";
import { startTestServer, type TestEnvironment, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const plain = { key: "a", type: "boolean", enabled: false, description: null };
const rollout = { key: "b", type: "rollout", enabled: false, percentage: 0, description: null };

const withFlags = async (): Promise<TestEnvironment> => {
  const environment = await server.environment();
  for (const { key, type } of [plain, rollout]) {
    const made = await environment.admin("POST", "/flags", { key, type });
    assert.equal(made.status, 201, made.text);
  }
  return environment;
};

test("a new flag is off, and comes back exactly as the interface shows it", async () => {
  const { admin } = await server.environment();
  const made = await admin("POST", "/flags", { key: "a", type: "boolean" });
  assert.equal(made.status, 201);
  assert.equal(made.headers.get("content-type"), "application/json; charset=utf-8");
  assert.deepEqual(made.body, plain);
  const described = await admin("POST", "/flags", { key: "b", type: "rollout", description: "B" });
  assert.equal(described.status, 201);
  assert.deepEqual(described.body, { ...rollout, description: "B" });
});

test("GET /flags answers 200 with a bare array of the flags, empty when there are none", async () => {
  const { admin } = await server.environment();
  const none = await admin("GET", "/flags");
  assert.deepEqual([none.status, none.body], [200, []]);
  await admin("POST", "/flags", { key: "b", type: "rollout" });
  await admin("POST", "/flags", { key: "a", type: "boolean" });
  const both = await admin("GET", "/flags");
  assert.deepEqual([both.status, both.body], [200, [plain, rollout]]);
});

test("GET /flags/:key answers 200 with one flag, without percentage on a boolean one", async () => {
  const { admin } = await withFlags();
  const [a, b] = [await admin("GET", "/flags/a"), await admin("GET", "/flags/b")];
  assert.deepEqual([a.status, a.body, b.status, b.body], [200, plain, 200, rollout]);
});

test("a flag belongs to the environment of the API key alone", async () => {
  const here = await withFlags();
  const there = await server.environment();
  assert.deepEqual((await there.admin("GET", "/flags")).body, []);
  assertRefused(await there.admin("PATCH", "/flags/a", { enabled: true }), 404, '"a"');
  assertRefused(await there.admin("DELETE", "/flags/a"), 404, '"a"');
  assert.equal((await there.admin("POST", "/flags", { key: "a", type: "rollout" })).status, 201);
  assert.deepEqual((await here.admin("GET", "/flags/a")).body, plain);
});

test("PATCH enabled: true turns a flag on, enabled: false turns it off", async () => {
  const { admin } = await withFlags();
  for (const flag of [plain, rollout]) {
    for (const enabled of [true, false, true]) {
      const patched = await admin("PATCH", `/flags/${flag.key}`, { enabled });
      assert.deepEqual([patched.status, patched.body], [200, { ...flag, enabled }]);
      assert.deepEqual((await admin("GET", `/flags/${flag.key}`)).body, patched.body);
    }
  }
});

test("PATCH percentage sets it whether the flag is on or off, and does not turn it", async () => {
  const { admin } = await withFlags();
  const off = await admin("PATCH", "/flags/b", { percentage: 25 });
  assert.deepEqual([off.status, off.body], [200, { ...rollout, percentage: 25 }]);
  await admin("PATCH", "/flags/b", { enabled: true });
  const on = await admin("PATCH", "/flags/b", { percentage: 0.5 });
  const expected = { ...rollout, enabled: true, percentage: 0.5 };
  assert.deepEqual([on.status, on.body], [200, expected]);
  assert.deepEqual((await admin("GET", "/flags/b")).body, expected);
});

test("PATCH description sets it, null clears it, and several fields go together", async () => {
  const { admin } = await withFlags();
  const set = await admin("PATCH", "/flags/a", { description: "Ünï 🚩" });
  assert.deepEqual([set.status, set.body], [200, { ...plain, description: "Ünï 🚩" }]);
  const cleared = await admin("PATCH", "/flags/a", { description: null });
  assert.deepEqual([cleared.status, cleared.body], [200, plain]);
  const change = { enabled: true, percentage: 12.345, description: "all" };
  const together = await admin("PATCH", "/flags/b", change);
  assert.deepEqual([together.status, together.body], [200, { ...rollout, ...change }]);
  assert.deepEqual((await admin("GET", "/flags")).body, [plain, together.body]);
});

test("DELETE answers 204 without a body, and the flag is gone, on or off", async () => {
  const { admin } = await withFlags();
  await admin("PATCH", "/flags/b", { enabled: true });
  for (const key of ["a", "b"]) {
    const removed = await admin("DELETE", `/flags/${key}`);
    assert.deepEqual([removed.status, removed.text], [204, ""]);
    assertRefused(await admin("GET", `/flags/${key}`), 404, `"${key}"`);
    assertRefused(await admin("DELETE", `/flags/${key}`), 404, `"${key}"`);
  }
  assert.deepEqual((await admin("GET", "/flags")).body, []);
});

test("a deleted key can be used again, by a flag of either type that knows nothing of the old one", async () => {
  const { admin } = await withFlags();
  await admin("PATCH", "/flags/b", { enabled: true, percentage: 50, description: "old" });
  await admin("DELETE", "/flags/b");
  const again = await admin("POST", "/flags", { key: "b", type: "boolean" });
  assert.deepEqual([again.status, again.body], [201, { ...plain, key: "b" }]);
});

for (const key of ["missing", "Missing.Flag-1", "no such flag", "ключ", "a%2Fb", "x".repeat(300)]) {
  test(`GET, PATCH and DELETE of the missing flag ${key.slice(0, 20)} answer 404 and name it`, async () => {
    const { admin } = await withFlags();
    const path = `/flags/${encodeURIComponent(key)}`;
    for (const [method, body] of [["GET"], ["PATCH", { enabled: true }], ["DELETE"]] as const) {
      const answer = await admin(method, path, body);
      assertRefused(answer, 404, `"${key}"`);
      assert.deepEqual(Object.keys(answer.body as object), ["error", "message"]);
    }
  });
}

test("a key is taken once: 409 names it, and the flag stays as it was", async () => {
  const { admin, name } = await withFlags();
  const earlier = await readCounters(server, name);
  for (const type of ["boolean", "rollout"]) {
    assertRefused(await admin("POST", "/flags", { key: "a", type, description: "x" }), 409, '"a"');
  }
  assert.deepEqual((await admin("GET", "/flags/a")).body, plain);
  assert.deepEqual(await readCounters(server, name), earlier);
});

test("keys that differ in case are different keys", async () => {
  const { admin } = await withFlags();
  assert.equal((await admin("POST", "/flags", { key: "A", type: "boolean" })).status, 201);
  await admin("PATCH", "/flags/A", { enabled: true });
  assert.deepEqual((await admin("GET", "/flags/a")).body, plain);
  assert.deepEqual((await admin("GET", "/flags/A")).body, { ...plain, key: "A", enabled: true });
});

const noChanges: readonly [string, string, object][] = [
  ["{}", "b", {}],
  ["the same enabled", "b", { enabled: true }],
  ["the same percentage", "b", { percentage: 40 }],
  ["the same description", "b", { description: "same" }],
  ["all the same", "b", { enabled: true, percentage: 40, description: "same" }],
  ["null for no description", "a", { description: null }],
  ["minus nought for nought", "c", { percentage: -0 }],
];
for (const [what, key, patch] of noChanges) {
  test(`a PATCH of ${what} answers 200 and makes no event, no version and no history`, async () => {
    const { admin, name } = await withFlags();
    await admin("POST", "/flags", { key: "c", type: "rollout" });
    await admin("PATCH", "/flags/b", { enabled: true, percentage: 40, description: "same" });
    const [flag, counters] = [
      await admin("GET", `/flags/${key}`),
      await readCounters(server, name),
    ];
    // JSON.stringify loses the sign of nought, which JSON itself can carry.
    const body = JSON.stringify(patch, (_, value) => (Object.is(value, -0) ? "-0" : value));
    const patched = await admin("PATCH", `/flags/${key}`, body.replace('"-0"', "-0"));
    assert.deepEqual([patched.status, patched.body], [200, flag.body]);
    assert.equal(patched.headers.get("etag"), flag.headers.get("etag"));
    assert.deepEqual(await readCounters(server, name), counters);
  });
}

test("an environment holds 10,000 flags: the next one is refused with 409 until one is deleted", async () => {
  const { admin, name } = await withFlags();
  // The counter is set directly: ten thousand real requests would say nothing more.
  await writeRows(server, "update environments set flag_count = 9999 where name = ?", name);
  assert.equal((await admin("POST", "/flags", { key: "last", type: "boolean" })).status, 201);
  assertRefused(await admin("POST", "/flags", { key: "over", type: "boolean" }), 409, "10000");
  assertRefused(await admin("GET", "/flags/over"), 404);
  assertRefused(await admin("POST", "/flags", { key: "last", type: "boolean" }), 409, '"last"');
  assert.equal((await admin("PATCH", "/flags/a", { enabled: true })).status, 200);
  assert.equal((await admin("DELETE", "/flags/a")).status, 204);
  assert.equal((await admin("POST", "/flags", { key: "over", type: "boolean" })).status, 201);
  const elsewhere = await server.environment();
  assert.equal(
    (await elsewhere.admin("POST", "/flags", { key: "a", type: "boolean" })).status,
    201,
  );
});

test("the count of flags follows every creation and deletion", async () => {
  const { admin, name } = await withFlags();
  assert.equal((await readCounters(server, name)).flags, 2);
  await admin("PATCH", "/flags/a", { enabled: true });
  assert.equal((await readCounters(server, name)).flags, 2);
  await admin("DELETE", "/flags/a");
  assert.equal((await readCounters(server, name)).flags, 1);
});

test("an admin changes flags, a server key only reads them, a client key does neither", async () => {
  const environment = await withFlags();
  const calls = [
    ["GET", "/flags", undefined, 200],
    ["GET", "/flags/a", undefined, 200],
    ["POST", "/flags", { key: "c", type: "boolean" }, 403],
    ["PATCH", "/flags/a", { enabled: true }, 403],
    ["DELETE", "/flags/a", undefined, 403],
  ] as const;
  for (const [method, path, body, asServer] of calls) {
    assert.equal((await environment.server(method, path, body)).status, asServer);
    assertRefused(await environment.client(method, path, body), 403, "client");
  }
  assert.deepEqual((await environment.admin("GET", "/flags")).body, [plain, rollout]);
});
