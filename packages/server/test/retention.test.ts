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
     insert into events (id, environment_id, sequence, type, flag_key, body, created_at)
     select 'evt_more' || number, environment_id, 1000 + number, type, flag_key, body, created_at
     from more, events where sequence = 2`,
  );
  const events = async () =>
    (await readRows(first, "select id, flag_key, sequence from events order by sequence")).map(
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
