// After 90 days events and their deliveries are deleted, a batch at a time, but never what is still to be delivered.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import { readRows, writeRows } from "./support/database.ts";
import {
  createFlag,
  isDelivered,
  logWhen,
  register,
  wasAttempted,
} from "./support/delivery-log.ts";
import { bearer, openStream } from "./support/event-reader.ts";
import { day, movableClock } from "./support/movable-clock.ts";
import { accept, startReceiver } from "./support/scripted-receiver.ts";
import { newFolder, startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

const extra = 1_200;

test("what is older than 90 days goes, what is younger or pending stays", async (t) => {
  const folder = newFolder();
  const receiver = await startReceiver(({ path }) => ({ status: path === "/bad" ? 500 : 204 }));
  t.after(async () => {
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const clock = movableClock();
  const running = new Set<TestServer>();
  const stop = async () => {
    for (const server of running) await server.close();
    running.clear();
  };
  t.after(stop);
  const start = async () => {
    const server = await startTestServer({ HALYARD_DATA: folder }, { clock: clock.clock });
    running.add(server);
    return server;
  };
  const first = await start();
  const { keys, admin } = await first.environment();
  const good = await register(admin, receiver.url);
  const bad = await register(admin, receiver.url.replace("hook", "bad"), ["flag.created"]);
  await createFlag(admin, "pending");
  await logWhen(admin, bad.id, 1, wasAttempted);
  await admin("PATCH", `/webhooks/${bad.id}`, { active: false });
  await createFlag(admin, "settled");
  await logWhen(admin, good.id, 2, isDelivered);
  await stop();
  // As many more as take several batches, without the time to make them one by one.
  await writeRows(
    first,
    `with recursive more(number) as (select 1 union all select number + 1 from more where number < ${extra})
     insert into events (id, environment_id, sequence, type, ordering_key, body, created_at)
     select 'evt_more' || number, environment_id, 1000 + number, type, ordering_key, body, created_at
     from more, events where sequence = 2`,
  );
  const events = async () =>
    (await readRows(first, "select id, ordering_key, sequence from events order by sequence")).map(
      ({ sequence }) => sequence,
    );
  assert.equal((await events()).length, extra + 2);

  clock.forward(89 * day);
  const second = await start();
  await createFlag(second.api(keys.admin), "young");
  await logWhen(second.api(keys.admin), good.id, 3, isDelivered);
  await stop();
  assert.equal((await events()).length, extra + 3, "after 89 days all of it is there");

  clock.forward(2 * day);
  const third = await start();
  const later = third.api(keys.admin);
  let seen = (await events()).length;
  await until("everything old is gone", async () => {
    const left = (await events()).length;
    assert.ok(seen - left <= 500, `${seen - left} at once`);
    seen = left;
    return left === 2;
  });
  assert.deepEqual(await events(), [1, 3], "the pending one and the young one");
  const shown = await logWhen(later, good.id, 2, isDelivered);
  assert.deepEqual(
    shown.map(({ event }) => event.flagKey),
    ["young", "pending"],
  );
  for (const [table, column] of [
    ["deliveries", "event_id from deliveries where event_id not in (select id from events)"],
    ["attempts", "position from attempts where position not in (select position from deliveries)"],
  ] as const) {
    assert.deepEqual(await readRows(first, `select ${column}`), [], `${table} go with their event`);
  }

  receiver.answer(accept);
  await later("PATCH", `/webhooks/${bad.id}`, { active: true });
  const [late] = await logWhen(later, bad.id, 1, isDelivered);
  assert.equal(late?.event.flagKey, "pending", "it is delivered after 91 days all the same");
});

test("idle queues of tests, of replays and of flags that are gone are deleted; the log stays whole", async (t) => {
  const receiver = await startReceiver();
  const clock = movableClock();
  const folder = newFolder();
  t.after(async () => {
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const settings = { HALYARD_DATA: folder };
  const first = await startTestServer(settings, { clock: clock.clock });
  const { admin, keys } = await first.environment();
  const { id } = await register(admin, receiver.url);
  await createFlag(admin, "stays");
  await createFlag(admin, "goes");
  for (let index = 0; index < 5; index += 1) await admin("POST", `/webhooks/${id}/test`);
  await admin("POST", `/webhooks/${id}/replay`, { afterSequence: 0 });
  await admin("DELETE", "/flags/goes");
  const log = await logWhen(admin, id, 10, isDelivered);
  const queues = async () =>
    (await readRows(first, "select ordering_key from delivery_queues order by id")).map(
      (row) => row.ordering_key,
    );
  assert.equal((await queues()).length, 9);
  await first.close();
  // A server prunes when it starts.
  const second = await startTestServer(settings, { clock: clock.clock });
  t.after(() => second.close());
  await until("only what can be used again is left", async () => (await queues()).length === 1);
  assert.deepEqual(await queues(), ["stays"]);
  const again = second.api(keys.admin);
  assert.deepEqual((await again("GET", `/webhooks/${id}/deliveries`)).body, log);
  await again("POST", "/flags", { key: "goes", type: "boolean" });
  await logWhen(again, id, 11, isDelivered);
});

test("old history goes when that is set, but never what versions and followers need", async (t) => {
  const clock = movableClock();
  const folder = newFolder();
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const settings = { HALYARD_DATA: folder, HALYARD_HISTORY_DAYS: "30" };
  const first = await startTestServer(settings, { clock: clock.clock });
  const { admin, keys } = await first.environment();
  await createFlag(admin, "kept");
  await createFlag(admin, "gone");
  const early = new Date().toISOString();
  for (const enabled of [true, false, true]) {
    await admin("PATCH", "/flags/kept", { enabled });
    await admin("PATCH", "/flags/gone", { enabled });
  }
  await admin("DELETE", "/flags/gone");
  await register(admin, "http://127.0.0.1:9/");
  const stream = await openStream(`${first.url}/api/v1/stream`, bearer(keys.server));
  const [before] = await stream.first(1);
  stream.close();
  await first.close();
  clock.forward(31 * day);
  const second = await startTestServer(settings, { clock: clock.clock });
  let isClosed = false;
  const close = async () => {
    if (!isClosed) await second.close();
    isClosed = true;
  };
  t.after(close);
  const api = second.api(keys.admin);
  const entries = async () =>
    ((await api("GET", "/history")).body as { subject: string; version: number | null }[]).map(
      ({ subject, version }) => [subject, version],
    );
  await until("the old entries are gone", async () => (await entries()).length === 2);
  assert.deepEqual(await entries(), [
    ["flag", 5],
    ["flag", 4],
  ]);
  const past = async (query: string) => {
    const { status, body } = await api("GET", `/flags?${query}`);
    return status === 200 ? (body as { key: string }[]).map(({ key }) => key) : status;
  };
  assert.equal(await past("revision=6"), 409, "revision 8 is gone");
  assert.equal(await past(`at=${early}`), 409);
  assert.deepEqual(await past("revision=8"), ["gone", "kept"], "all that came after is there");
  assert.deepEqual(await past("revision=9"), ["kept"]);
  assert.equal((await api("GET", "/snapshot?revision=6")).status, 409);
  assert.equal((await api("GET", "/segments?revision=6")).status, 409);
  const explained = await api("POST", "/flags/kept/explain", { context: {}, revision: 6 });
  assert.equal(explained.status, 409);
  assert.match(explained.text, /no longer has all changes since revision 6/);
  // Someone who comes back goes on, and so does who was away for longer: with everything anew.
  for (const [known, event] of [
    [before?.id ?? "", "change"],
    ["2-abc", "snapshot"],
  ] as const) {
    const headers = { ...bearer(keys.server), "last-event-id": known };
    const back = await openStream(`${second.url}/api/v1/stream`, headers);
    if (event === "change") await api("PATCH", "/flags/kept", { enabled: false });
    assert.equal((await back.first(1))[0]?.event, event);
    back.close();
  }
  const yesterday = new Date(clock.clock().getTime() - day);
  const created = await api("POST", "/flags", { key: "gone", type: "boolean" });
  assert.equal(created.headers.get("etag"), '"6"', "the version goes on");
  await close();
  const third = await startTestServer(settings, { clock: clock.clock });
  t.after(() => third.close());
  const again = third.api(keys.admin);
  await until("what was kept before is pruned", async () => {
    const { body } = await again("GET", "/history?subject=flag&id=kept");
    return (body as { revision: number }[]).every(({ revision }) => revision > 9);
  });
  const later = await again("GET", `/flags?at=${yesterday.toISOString()}`);
  assert.equal(later.headers.get("x-halyard-revision"), "9", "what was there within the time kept");
});
