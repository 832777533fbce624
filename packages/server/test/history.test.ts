// The history of a flag over real HTTP: who changed what and when, newest first, for as long as the environment lives.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused, nextPath } from "./support/answers.ts";
import type { Answer, Api } from "./support/api.ts";
import { startReceiver } from "./support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

interface Entry {
  readonly version: number;
  readonly createdAt: string;
  readonly chain: string;
  readonly actor: { readonly keyId: string; readonly name: string };
  readonly events: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
}

const entriesOf = (answer: Answer): Entry[] => {
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Entry[];
};
const adminKeyId = async (admin: Api): Promise<string> =>
  ((await admin("GET", "/key")).body as { id: string }).id;
const versionsOf = (entries: readonly Entry[]): number[] => entries.map(({ version }) => version);

const flag = { key: "f", type: "rollout", enabled: false, percentage: 0, description: null };

test("history tells every change newest first: when, who, what, before and after", async () => {
  const { admin } = await server.environment();
  const keyId = await adminKeyId(admin);
  const times = [new Date().toISOString()];
  const steps = [
    ["POST", "/flags", { key: "f", type: "rollout" }],
    ["PATCH", "/flags/f", { enabled: true, percentage: 25 }],
    ["PATCH", "/flags/f", { description: "why" }],
    ["PATCH", "/flags/f", { enabled: false }],
    ["DELETE", "/flags/f", undefined],
  ] as const;
  for (const [method, path, body] of steps) {
    assert.ok((await admin(method, path, body)).status < 300);
    times.push(new Date().toISOString());
  }
  const states = [
    null,
    flag,
    { ...flag, enabled: true, percentage: 25 },
    { ...flag, enabled: true, percentage: 25, description: "why" },
    { ...flag, percentage: 25, description: "why" },
    null,
  ];
  const events = [
    ["flag.created"],
    ["flag.enabled", "flag.updated"],
    ["flag.updated"],
    ["flag.disabled"],
    ["flag.deleted"],
  ];
  const entries = entriesOf(await admin("GET", "/flags/f/history")).toReversed();
  assert.equal(entries.length, steps.length);
  for (const [index, entry] of entries.entries()) {
    const { createdAt, chain, ...rest } = entry;
    assert.match(chain, /^[0-9a-f]{64}$/);
    assert.deepEqual(rest, {
      version: index + 1,
      revision: index + 1,
      actor: { keyId, name: "admin" },
      events: events[index],
      before: states[index],
      after: states[index + 1],
    });
    assert.equal(new Date(createdAt).toISOString(), createdAt);
    assert.ok((times[index] ?? "") <= createdAt && createdAt <= (times[index + 1] ?? ""));
  }
});

test("history of a boolean flag shows no percentage", async () => {
  const { admin } = await server.environment();
  const { body } = await admin("POST", "/flags", { key: "f", type: "boolean" });
  assert.deepEqual(entriesOf(await admin("GET", "/flags/f/history"))[0]?.after, body);
});

test("each entry names the key that made the change, also when that key is revoked", async () => {
  const { admin } = await server.environment();
  const issued = await admin("POST", "/keys", { name: "deploy bot", role: "admin" });
  const { id, key } = issued.body as { id: string; key: string };
  await admin("POST", "/flags", { key: "f", type: "boolean" });
  await server.api(key)("PATCH", "/flags/f", { enabled: true });
  await admin("DELETE", `/keys/${id}`);
  const actors = entriesOf(await admin("GET", "/flags/f/history")).map(({ actor }) => actor);
  assert.deepEqual(actors, [
    { keyId: id, name: "deploy bot" },
    { keyId: await adminKeyId(admin), name: "admin" },
  ]);
});

test("what changes nothing leaves no entry, nor does what is refused", async () => {
  const { admin } = await server.environment();
  await admin("POST", "/flags", { key: "f", type: "boolean" });
  await admin("PATCH", "/flags/f", {});
  await admin("PATCH", "/flags/f", { enabled: false });
  await admin("PATCH", "/flags/f", { percentage: 5 });
  await admin("PATCH", "/flags/f", { enabled: true }, { "if-match": '"7"' });
  await admin("POST", "/flags", { key: "f", type: "boolean" });
  assert.deepEqual(versionsOf(entriesOf(await admin("GET", "/flags/f/history"))), [1]);
});

test("history is of this flag in this environment alone", async () => {
  const [here, there] = [await server.environment(), await server.environment()];
  for (const { admin } of [here, there]) {
    for (const key of ["f", "F", "f2"]) await admin("POST", "/flags", { key, type: "boolean" });
  }
  await here.admin("PATCH", "/flags/f", { enabled: true });
  const lengths = [here.admin, there.admin].map(async (admin) =>
    Promise.all(
      ["f", "F", "f2"].map(
        async (key) => entriesOf(await admin("GET", `/flags/${key}/history`)).length,
      ),
    ),
  );
  assert.deepEqual(await Promise.all(lengths), [
    [2, 1, 1],
    [1, 1, 1],
  ]);
});

test("the history of a deleted flag stays, and goes on when the key is used again", async () => {
  const { admin } = await server.environment();
  await admin("POST", "/flags", { key: "f", type: "rollout" });
  await admin("DELETE", "/flags/f");
  assertRefused(await admin("GET", "/flags/f"), 404);
  const [deleted, created] = entriesOf(await admin("GET", "/flags/f/history"));
  assert.deepEqual(
    [deleted?.events, deleted?.before, deleted?.after],
    [["flag.deleted"], flag, null],
  );
  assert.deepEqual(
    [created?.events, created?.before, created?.after],
    [["flag.created"], null, flag],
  );
  await admin("POST", "/flags", { key: "f", type: "boolean" });
  assert.deepEqual(versionsOf(entriesOf(await admin("GET", "/flags/f/history"))), [3, 2, 1]);
});

test("the history of a flag that never was is 404 and names it, whatever its key and page", async () => {
  const { admin } = await server.environment();
  const cursor = Buffer.from("5-5").toString("base64url");
  for (const key of ["never", "not a key!"]) {
    const path = `/flags/${encodeURIComponent(key)}/history`;
    for (const query of ["", "?limit=1", `?cursor=${cursor}`]) {
      assertRefused(await admin("GET", path + query), 404, `"${key}"`);
    }
  }
});

const withChanges = async (count: number): Promise<Api> => {
  const { admin } = await server.environment();
  await admin("POST", "/flags", { key: "f", type: "rollout" });
  for (let at = 1; at < count; at++) await admin("PATCH", "/flags/f", { percentage: at / 1_000 });
  return admin;
};

const follow = async (api: Api, first: string): Promise<number[][]> => {
  const pages: number[][] = [];
  let path: string | undefined = first;
  while (path !== undefined) {
    const page: Answer = await api("GET", path);
    pages.push(versionsOf(entriesOf(page)));
    path = nextPath(page);
    assert.ok(pages.length <= 20, "the pages do not end");
  }
  return pages;
};

test("history comes in pages, each Link leads to older entries, none is lost or told twice", async () => {
  const admin = await withChanges(7);
  const all = [7, 6, 5, 4, 3, 2, 1];
  assert.deepEqual(await follow(admin, "/flags/f/history"), [all]);
  assert.deepEqual(await follow(admin, "/flags/f/history?limit=7"), [all]);
  assert.deepEqual(await follow(admin, "/flags/f/history?limit=1000"), [all]);
  assert.deepEqual(await follow(admin, "/flags/f/history?limit=3"), [[7, 6, 5], [4, 3, 2], [1]]);
  assert.deepEqual((await follow(admin, "/flags/f/history?limit=1")).flat(), all);
});

test("deletions are selected from the history of the environment, in pages", async () => {
  const { admin } = await server.environment();
  for (const key of ["a", "b", "c"]) await admin("POST", "/flags", { key, type: "boolean" });
  for (const key of ["a", "b"]) await admin("DELETE", `/flags/${key}`);
  await admin("PATCH", "/flags/c", { enabled: true });
  const read = async (path: string) => {
    const answer = await admin("GET", path);
    return { next: nextPath(answer), entries: answer.body as { id: string }[] };
  };
  const first = await read("/history?subject=flag&deleted=true&limit=1");
  const second = await read(first.next ?? "");
  assert.deepEqual(
    [...first.entries, ...second.entries].map(({ id }) => id),
    ["b", "a"],
  );
  assert.equal(second.next, undefined);
  assertRefused(await admin("GET", "/history?deleted=false"), 400, "deleted");
});

test("changes made between two pages do not move the second", async () => {
  const admin = await withChanges(4);
  const first = await admin("GET", "/flags/f/history?limit=2");
  assert.deepEqual(versionsOf(entriesOf(first)), [4, 3]);
  await admin("PATCH", "/flags/f", { enabled: true });
  await admin("DELETE", "/flags/f");
  assert.deepEqual(await follow(admin, nextPath(first) ?? ""), [[2, 1]]);
});

test("without a limit a page holds 100 entries, and a Link leads to the rest", async () => {
  const admin = await withChanges(101);
  const pages = await follow(admin, "/flags/f/history");
  assert.deepEqual(
    pages.map((page) => page.length),
    [100, 1],
  );
  assert.deepEqual(pages[1], [1]);
});

for (const query of [
  "limit=0",
  "limit=1001",
  "limit=x",
  "cursor=",
  "cursor=!",
  "cursor=YQ",
  "cursor=NQ",
  "q=x",
]) {
  test(`history with ${query} is refused with 400 that names the parameter`, async () => {
    const admin = await withChanges(1);
    const answer = await admin("GET", `/flags/f/history?${query}`);
    assertRefused(answer, 400, query.slice(0, query.indexOf("=")));
  });
}

test("reading history needs a server key", async () => {
  const environment = await server.environment();
  await environment.admin("POST", "/flags", { key: "f", type: "boolean" });
  for (const path of ["/flags/f/history", "/history"]) {
    const { status, body } = await environment.server("GET", path);
    assert.equal(status, 200);
    assert.deepEqual(body, (await environment.admin("GET", path)).body);
    assertRefused(await environment.client("GET", path), 403, "role server");
  }
  assertRefused(await server.anonymous("GET", "/flags/f/history"), 401);
});

test("events: what webhooks receive, oldest first, after a number, since a time, or the newest", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { admin, server: reader, client } = await server.environment();
  assert.equal((await reader("GET", "/events")).text, "[]");
  await admin("POST", "/webhooks", { url: receiver.url, events: ["*"] });
  await admin("POST", "/flags", { key: "f", type: "rollout" });
  await admin("PATCH", "/flags/f", { enabled: true, percentage: 12.5, description: "ü \u2028" });
  await admin("DELETE", "/flags/f");
  const types = ["flag.created", "flag.enabled", "flag.updated", "flag.deleted"];
  await until("all are delivered", () => receiver.received.length === types.length);
  const sent = receiver.received.map(({ body }) => body.toString());

  const all = await reader("GET", "/events");
  assert.equal(all.headers.get("content-type"), "application/json; charset=utf-8");
  assert.equal(all.text, `[${sent.join(",")}]`, "the same bytes");
  const read = async (query: string) => {
    const answer = await admin("GET", `/events?${query}`);
    assert.equal(answer.status, 200, answer.text);
    return (answer.body as { sequence: number }[]).map(({ sequence }) => sequence);
  };
  assert.deepEqual(await read("after=0&limit=2"), [1, 2]);
  assert.deepEqual(await read("after=2"), [3, 4]);
  assert.deepEqual(await read("after=4"), []);
  assert.deepEqual(await read("limit=1"), [4], "the newest");
  const times = (all.body as { createdAt: string }[]).map(({ createdAt }) => createdAt);
  assert.deepEqual(await read(`since=${times[0]}&limit=1`), [1]);
  assert.deepEqual(await read(`since=${times[0]}&after=3`), [4]);
  assert.deepEqual(await read("since=2100-01-01"), []);
  for (const [query, field] of [
    ["after=-1", "after"],
    ["after=x", "after"],
    ["since=yesterday", "since"],
    ["limit=1001", "limit"],
    ["before=1", "before"],
  ] as const) {
    assertRefused(await admin("GET", `/events?${query}`), 400, field);
  }
  assert.equal((await client("GET", "/events")).status, 403);
  const other = await server.environment();
  assert.equal((await other.admin("GET", "/events?after=0")).text, "[]");
});
