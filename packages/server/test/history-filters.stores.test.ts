// Reasons of changes, and what of the history of an environment is selected.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused, nextPath } from "./support/answers.ts";
import type { Answer } from "./support/api.ts";
import { readRows, writeRows } from "./support/database.ts";
import { startReceiver } from "./support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test("a reason is kept in history, sent in events and in webhooks, and absent where none was given", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { admin, server: reader } = await server.environment();
  await admin("POST", "/webhooks", { url: receiver.url, events: ["*"] });
  const steps = [
    ["POST", "/flags", { key: "f", type: "boolean" }],
    ["PATCH", "/flags/f", { enabled: true }],
    ["POST", "/changes", { changes: [{ flag: "f", patch: { description: "d" } }] }],
    ["DELETE", "/flags/f", undefined],
    ["POST", "/segments", { key: "s" }],
    ["PATCH", "/segments/s", { description: "d" }],
    ["POST", "/segments/s/members", { include: { add: ["user-1"] } }],
    ["DELETE", "/segments/s", undefined],
  ] as const;
  const given: (string | undefined)[] = [];
  for (const [index, [method, path, body]] of [...steps, ...steps].entries()) {
    const reason = index < steps.length ? `${index}: “it’s” broken & 100 %, ünï 🎉` : undefined;
    const query = reason === undefined ? "" : `?reason=${encodeURIComponent(`  ${reason} \n`)}`;
    const answer = await admin(method, path + query, body);
    assert.ok(answer.status < 300, answer.text);
    given.push(reason);
  }
  type Reasoned = { readonly subject: string; readonly reason?: string };
  const told = (entries: unknown) => (entries as Reasoned[]).map(({ reason }) => reason);
  const history = (await reader("GET", "/history")).body as Reasoned[];
  const changes = history.filter(({ subject }) => subject === "flag" || subject === "segment");
  assert.deepEqual(told(changes).toReversed(), given);
  const ofFlag = (await reader("GET", "/flags/f/history")).body;
  assert.deepEqual(told(ofFlag).toReversed(), [...given.slice(0, 4), ...given.slice(8, 12)]);
  const events = (await reader("GET", "/events?after=0")).body as object[];
  assert.deepEqual(told(events), given);
  const before = ["id", "type", "createdAt", "environment", "sequence", "chain", "data", "actor"];
  for (const [index, event] of events.entries()) {
    const names = index < steps.length ? [...before, "reason"] : before;
    assert.deepEqual(Object.keys(event), names);
  }
  await until("all are delivered", () => receiver.received.length === events.length);
  const delivered = receiver.received.map(({ body }) => body.toString());
  assert.deepEqual(delivered.toSorted(), events.map((event) => JSON.stringify(event)).toSorted());
});

test("a reason that is none is refused and changes nothing; one in the body is told where it belongs", async () => {
  const { admin } = await server.environment();
  await admin("POST", "/flags", { key: "f", type: "boolean" });
  for (const reason of [
    ...["", " ", "a\nb", "\u0000", "a\u0085b", "🎉".repeat(501)],
    // Nothing to see, or the rest is read the other way round.
    ...["\u200b", "\u200d", "a\u2028b", "a\u202eb"],
  ]) {
    const path = `/flags/f?reason=${encodeURIComponent(reason)}`;
    const refused = await admin("PATCH", path, { enabled: true });
    assertRefused(refused, 400, "reason must be a text of 1 to 500 characters");
  }
  assertRefused(await admin("PATCH", "/flags/f?reason=a&reason=b", { enabled: true }), 400);
  const longest = "👩\u200d🚀".repeat(166);
  const patched = await admin("PATCH", `/flags/f?reason=${encodeURIComponent(longest)}`, {
    enabled: true,
  });
  assert.equal(patched.status, 200, patched.text);
  const bodies = [
    ["POST", "/flags", { key: "g", type: "boolean", reason: "x" }, "reason"],
    ["PATCH", "/flags/f", { reason: "x" }, "reason"],
    ["POST", "/segments", { key: "s", reason: "x" }, "reason"],
    ["PATCH", "/segments/s", { reason: "x" }, "reason"],
    ["POST", "/segments/s/members", { reason: "x" }, "reason"],
    ["POST", "/changes", { reason: "x", changes: [{ flag: "f", patch: {} }] }, "reason"],
    ["POST", "/changes", { changes: [{ flag: "f", patch: {}, reason: "x" }] }, "changes[0].reason"],
  ] as const;
  for (const [method, path, body, field] of bodies) {
    const refused = await admin(method, path, body);
    assertRefused(refused, 400, `${field} is no field of the body`, "?reason=");
  }
  assertRefused(await admin("POST", "/webhooks?reason=x", { url: "https://a.example" }), 400);
});

test("history is filtered by actor, by name or id, and by time, together with every other filter", async () => {
  const { admin } = await server.environment();
  const issued = await admin("POST", "/keys", { name: "deploy bot", role: "admin" });
  const { id, key } = issued.body as { id: string; key: string };
  const bot = server.api(key);
  await admin("POST", "/flags", { key: "a", type: "boolean" });
  await bot("POST", "/flags", { key: "b", type: "boolean" });
  await bot("POST", "/segments", { key: "s" });
  await bot("DELETE", "/flags/b");
  await admin("DELETE", "/flags/a");
  // Each has a time of its own.
  const [last] = await readRows(server, "select max(id) as id from history");
  await writeRows(
    server,
    "update history set at = at - (? - id) * 1000 where environment_id = (select max(environment_id) from history)",
    Number(last?.id),
  );
  type Listed = { readonly id: string; readonly createdAt: string };
  const read = async (query: string): Promise<Listed[]> => {
    const answer = await admin("GET", `/history?${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body as Listed[];
  };
  const ids = async (query: string) => (await read(query)).map((entry) => entry.id);
  assert.deepEqual(await ids("actor=deploy%20bot"), ["b", "s", "b"]);
  assert.deepEqual(await ids(`actor=${id}`), ["b", "s", "b"]);
  assert.deepEqual(await ids("actor=deploy"), []);
  assert.deepEqual(await ids(`actor=${id}&subject=flag`), ["b", "b"]);
  assert.deepEqual(await ids("actor=admin&deleted=true"), ["a"]);
  assert.deepEqual(await ids("actor=admin&subject=flag&id=a"), ["a", "a"]);
  const flags = await read("subject=flag");
  const at = flags.map(({ createdAt }) => createdAt);
  assert.deepEqual(await ids(`subject=flag&since=${at[1]}`), ["a", "b"]);
  assert.deepEqual(await ids(`subject=flag&until=${at[2]}`), ["b", "a"]);
  assert.deepEqual(await ids(`since=${at[2]}&until=${at[1]}`), ["b", "s", "b"]);
  assert.deepEqual(await ids(`actor=${id}&since=${at[1]}`), ["b"]);
  assert.deepEqual(await ids(`subject=flag&id=a&until=${at[1]}`), ["a"]);
  const pages: string[] = [];
  for (let path: string | undefined = `/history?limit=1&actor=${id}`; path !== undefined; ) {
    const page: Answer = await admin("GET", path);
    pages.push(...(page.body as Listed[]).map((entry) => entry.id));
    path = nextPath(page);
  }
  assert.deepEqual(pages, ["b", "s", "b"]);
  for (const [query, field] of [
    ["actor=", "actor"],
    ["since=yesterday", "since"],
    ["until=12:00", "until"],
    ["id=a&actor=x", "subject"],
  ] as const) {
    assertRefused(await admin("GET", `/history?${query}`), 400, field);
  }
});

test("a page of large entries ends after 8 MiB, and the Link leads to the rest", async () => {
  const { admin } = await server.environment();
  await admin("POST", "/segments", { key: "s" });
  const large = JSON.stringify({ text: "x".repeat(3 * 1_024 * 1_024) });
  for (let version = 2; version <= 6; version += 1) {
    await writeRows(
      server,
      `insert into history (environment_id, subject, subject_id, version, at, actor_name, actions, before, after)
       select environment_id, subject, subject_id, ?, at, 'a', '[]', null, ? from history
       where id = (select max(id) from history)`,
      version,
      large,
    );
  }
  const pages = async (query: string) => {
    const versions: (number | null)[][] = [];
    for (let path: string | undefined = `/history?${query}`; path !== undefined; ) {
      const page: Answer = await admin("GET", path);
      assert.equal(page.status, 200);
      versions.push((page.body as { version: number | null }[]).map(({ version }) => version));
      path = nextPath(page);
    }
    return versions;
  };
  const expected = [
    [6, 5, 4],
    [3, 2, 1],
  ];
  assert.deepEqual(await pages("subject=segment&limit=1000"), expected);
  assert.deepEqual(await pages("subject=segment&id=s&limit=3"), expected);
  const [first, second] = await pages("subject=segment&actor=a&limit=1");
  assert.deepEqual([first, second], [[6], [5]]);
});

test("a page begins after the last entry of the one before, also when that one is gone", async () => {
  const { admin } = await server.environment();
  for (const key of ["a", "b", "gone"]) await admin("POST", "/flags", { key, type: "boolean" });
  const first = await admin("GET", "/history?subject=flag&limit=1");
  await writeRows(server, "delete from history where subject_id = 'gone'");
  const second = await admin("GET", nextPath(first) ?? "");
  assert.deepEqual(
    (second.body as { id: string }[]).map((entry) => entry.id),
    ["b"],
  );
});
