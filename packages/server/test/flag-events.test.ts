// Which change of a flag makes which events, exactly what they say, and for which webhooks they are queued.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Answer, Api } from "./support/api.ts";
import { readCounters, readEvents, readRows, type StoredEvent } from "./support/database.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const versionOf = (answer: Answer): number => Number(answer.headers.get("etag")?.slice(1, -1));

const hook = "http://127.0.0.1:9/hook";
const subscribe = async (admin: Api, events: readonly string[]): Promise<string> => {
  const made = await admin("POST", "/webhooks", { url: hook, events });
  assert.equal(made.status, 201, made.text);
  return (made.body as { id: string }).id;
};

/** The names of the events queued for each webhook, in the environment's order. */
const queued = async (environment: string): Promise<Readonly<Record<string, string[]>>> => {
  const rows = await readRows(
    server,
    `select webhooks.id as webhook, events.type from deliveries
     join webhooks on webhooks.id = deliveries.webhook_id
     join environments on environments.id = webhooks.environment_id
     join events on events.environment_id = environments.id and events.sequence = deliveries.sequence
     where environments.name = ? order by events.sequence`,
    environment,
  );
  const byWebhook = Object.groupBy(rows, ({ webhook }) => String(webhook));
  return Object.fromEntries(
    Object.entries(byWebhook).map(([id, own = []]) => [id, own.map(({ type }) => String(type))]),
  );
};

type Told = readonly [type: string, previous: object];
const state = { enabled: true, percentage: 25, description: "old" };
const patches: readonly [patch: object, told: readonly Told[]][] = [
  [{ enabled: false }, [["flag.disabled", { enabled: true }]]],
  [{ percentage: 30 }, [["flag.updated", { percentage: 25 }]]],
  [{ percentage: 0 }, [["flag.updated", { percentage: 25 }]]],
  [{ description: "new" }, [["flag.updated", { description: "old" }]]],
  [{ description: null }, [["flag.updated", { description: "old" }]]],
  [
    { percentage: 30, description: "new" },
    [["flag.updated", { percentage: 25, description: "old" }]],
  ],
  [
    { description: "new", percentage: 30, enabled: false },
    [
      ["flag.disabled", { enabled: true }],
      ["flag.updated", { percentage: 25, description: "old" }],
    ],
  ],
  [{ enabled: true, percentage: 30 }, [["flag.updated", { percentage: 25 }]]],
  [{ enabled: false, percentage: 25 }, [["flag.disabled", { enabled: true }]]],
  [{ enabled: true, percentage: 25, description: "old" }, []],
  [{}, []],
];
for (const [patch, told] of patches) {
  const names = told.map(([type]) => type).join(" then ") || "no event";
  test(`PATCH ${JSON.stringify(patch)} of an enabled rollout makes ${names}`, async () => {
    const { admin, name } = await server.environment();
    await admin("POST", "/flags", { key: "f", type: "rollout" });
    await admin("PATCH", "/flags/f", state);
    const earlier = (await readEvents(server, name)).length;
    const patched = await admin("PATCH", "/flags/f", patch);
    const events = (await readEvents(server, name)).slice(earlier);
    assert.deepEqual(
      events.map(({ type, data }) => [type, data.previous]),
      told,
    );
    for (const { data } of events) {
      assert.deepEqual(data.flag, patched.body);
      assert.equal(data.version, versionOf(patched));
    }
  });
}

test("a flag that is turned on and changed is told as enabled first, updated second", async () => {
  const { admin, name } = await server.environment();
  await admin("POST", "/flags", { key: "f", type: "boolean" });
  await admin("PATCH", "/flags/f", { description: "x", enabled: true });
  const events = (await readEvents(server, name)).slice(1);
  assert.deepEqual(
    events.map(({ type, sequence, data }) => [type, sequence, data.version, data.previous]),
    [
      ["flag.enabled", 2, 2, { enabled: false }],
      ["flag.updated", 3, 2, { description: null }],
    ],
  );
  assert.notEqual(events[0]?.id, events[1]?.id);
});

test("the body of an event is exactly as the interface shows it, for the whole life of a flag", async () => {
  const { admin, name } = await server.environment();
  const keys = (await admin("GET", "/keys")).body as { id: string; role: string }[];
  const keyId = keys.find(({ role }) => role === "admin")?.id;
  assert.ok(keyId);
  const begun = new Date().toISOString();
  await admin("POST", "/flags", { key: "new-checkout", type: "rollout" });
  await admin("PATCH", "/flags/new-checkout", { percentage: 25 });
  await admin("PATCH", "/flags/new-checkout", { enabled: true });
  await admin("PATCH", "/flags/new-checkout", { enabled: false });
  await admin("DELETE", "/flags/new-checkout");
  const ended = new Date().toISOString();

  const flag = {
    key: "new-checkout",
    type: "rollout",
    enabled: false,
    percentage: 0,
    description: null,
  };
  const expected = [
    ["flag.created", flag, {}],
    ["flag.updated", { ...flag, percentage: 25 }, { percentage: 0 }],
    ["flag.enabled", { ...flag, percentage: 25, enabled: true }, { enabled: false }],
    ["flag.disabled", { ...flag, percentage: 25 }, { enabled: true }],
    ["flag.deleted", { ...flag, percentage: 25 }, {}],
  ] as const;
  const events = await readEvents(server, name);
  assert.equal(events.length, expected.length);
  for (const [index, [type, shown, previous]] of expected.entries()) {
    const event = events[index] as StoredEvent;
    assert.match(event.id, /^evt_[0-9a-f]{32}$/);
    const time = new Date(Number.parseInt(event.id.slice(4, 16), 16)).toISOString();
    assert.ok(begun <= time && time <= ended, "ids begin with the time, in the order of the index");
    assert.match(event.chain, /^[0-9a-f]{64}$/);
    assert.ok(begun <= event.createdAt && event.createdAt <= ended, event.createdAt);
    // As text, so that the order of the fields is held too.
    assert.equal(
      JSON.stringify(event),
      JSON.stringify({
        id: event.id,
        type,
        createdAt: new Date(event.createdAt).toISOString(),
        environment: name,
        sequence: index + 1,
        chain: event.chain,
        data: { flag: shown, version: index + 1, previous },
        actor: { keyId, name: "admin" },
      }),
    );
  }
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
});

test("the event of a boolean flag carries no percentage", async () => {
  const { admin, name } = await server.environment();
  const made = await admin("POST", "/flags", { key: "f", type: "boolean", description: "d" });
  assert.deepEqual((await readEvents(server, name))[0]?.data.flag, made.body);
});

test("the actor of an event is the key that was used", async () => {
  const { admin, name } = await server.environment();
  const issued = await admin("POST", "/keys", { name: "ci 🚀", role: "admin" });
  const { id, key } = issued.body as { id: string; key: string };
  await server.api(key)("POST", "/flags", { key: "f", type: "boolean" });
  await admin("PATCH", "/flags/f", { enabled: true });
  const actors = (await readEvents(server, name)).map(({ actor }) => actor.name);
  assert.deepEqual(actors, ["ci 🚀", "admin"]);
  assert.equal((await readEvents(server, name))[0]?.actor.keyId, id);
});

test("a refused request makes no event", async () => {
  const { admin, name, server: reader } = await server.environment();
  await admin("POST", "/flags", { key: "f", type: "boolean" });
  const earlier = await readCounters(server, name);
  const refusals = [
    await admin("POST", "/flags", { key: "f", type: "boolean" }),
    await admin("POST", "/flags", { key: "g", type: "boolean", percentage: 1 }),
    await admin("PATCH", "/flags/f", { enabled: true, percentage: 1 }),
    await admin("PATCH", "/flags/f", { enabled: true }, { "if-match": '"9"' }),
    await admin("DELETE", "/flags/f", undefined, { "if-match": '"9"' }),
    await admin("PATCH", "/flags/none", { enabled: true }),
    await admin("DELETE", "/flags/none"),
    await reader("PATCH", "/flags/f", { enabled: true }),
  ];
  const statuses = refusals.map(({ status }) => status);
  assert.deepEqual(statuses, [409, 400, 400, 412, 412, 404, 404, 403]);
  assert.deepEqual(await readCounters(server, name), earlier);
});

test("sequence grows by one for each event, without gaps, however many write at once", async () => {
  const [here, there] = [await server.environment(), await server.environment()];
  const keys = Array.from({ length: 8 }, (_, index) => `f${index}`);
  const life = async (admin: Api, key: string): Promise<void> => {
    await admin("POST", "/flags", { key, type: "rollout" });
    await Promise.all([
      admin("PATCH", `/flags/${key}`, { enabled: true, percentage: 10 }),
      admin("PATCH", `/flags/${key}`, { percentage: 10, enabled: true }),
      admin("PATCH", `/flags/${key}`, { percentage: 101 }),
      admin("POST", "/flags", { key, type: "rollout" }),
    ]);
    await admin("DELETE", `/flags/${key}`);
  };
  await Promise.all([here, there].flatMap(({ admin }) => keys.map((key) => life(admin, key))));
  for (const { name } of [here, there]) {
    const events = await readEvents(server, name);
    // created, enabled, updated, deleted: the second of the equal patches changes nothing.
    assert.equal(events.length, keys.length * 4);
    assert.deepEqual(
      events.map(({ sequence }) => sequence),
      events.map((_, index) => index + 1),
    );
    assert.equal((await readCounters(server, name)).sequence, events.length);
    for (const key of keys) {
      const own = events.filter(({ data }) => (data.flag as { key: string }).key === key);
      const versions = own.map(({ type, data }) => [type, data.version]);
      assert.deepEqual(versions, [
        ["flag.created", 1],
        ["flag.enabled", 2],
        ["flag.updated", 2],
        ["flag.deleted", 3],
      ]);
    }
  }
});

const life = async (admin: Api): Promise<void> => {
  await admin("POST", "/flags", { key: "f", type: "rollout" });
  await admin("PATCH", "/flags/f", { enabled: true, percentage: 5 });
  await admin("PATCH", "/flags/f", { enabled: false });
  await admin("PATCH", "/flags/f", {});
  await admin("DELETE", "/flags/f");
};
const all = ["flag.created", "flag.enabled", "flag.updated", "flag.disabled", "flag.deleted"];

test("every event is queued once for each active webhook that asked for it, and for no other", async () => {
  const { admin, name } = await server.environment();
  const other = await server.environment();
  const everything = await subscribe(admin, ["*"]);
  const twice = await subscribe(admin, ["*", "flag.created", "*"]);
  const each: [string, string[]][] = [];
  for (const type of all) each.push([await subscribe(admin, [type]), [type]]);
  const two = await subscribe(admin, ["flag.deleted", "flag.enabled"]);
  const inactive = await subscribe(admin, ["*"]);
  await admin("PATCH", `/webhooks/${inactive}`, { active: false });
  const elsewhere = await subscribe(other.admin, ["*"]);
  await life(admin);
  assert.deepEqual(await queued(name), {
    [everything]: all,
    [twice]: all,
    ...Object.fromEntries(each),
    [two]: ["flag.enabled", "flag.deleted"],
  });
  assert.deepEqual(await queued(other.name), {});
  await other.admin("POST", "/flags", { key: "f", type: "boolean" });
  assert.deepEqual(await queued(other.name), { [elsewhere]: ["flag.created"] });
});

test("what happens while a webhook is inactive is not queued for it, what happens after is", async () => {
  const { admin, name } = await server.environment();
  const id = await subscribe(admin, ["*"]);
  await admin("POST", "/flags", { key: "f", type: "boolean" });
  await admin("PATCH", `/webhooks/${id}`, { active: false });
  await admin("PATCH", "/flags/f", { enabled: true });
  await admin("PATCH", `/webhooks/${id}`, { active: true });
  await admin("PATCH", "/flags/f", { enabled: false });
  assert.deepEqual(await queued(name), { [id]: ["flag.created", "flag.disabled"] });
});

test("other events chosen for a webhook hold from the next change on", async () => {
  const { admin, name } = await server.environment();
  const id = await subscribe(admin, ["flag.enabled"]);
  await admin("POST", "/flags", { key: "f", type: "boolean" });
  await admin("PATCH", `/webhooks/${id}`, { events: ["flag.deleted"] });
  await admin("PATCH", "/flags/f", { enabled: true });
  await admin("DELETE", "/flags/f");
  assert.deepEqual(await queued(name), { [id]: ["flag.deleted"] });
});
