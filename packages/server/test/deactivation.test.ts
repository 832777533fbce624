// Webhooks that are switched off, by a person or by Halyard itself: what waits for them, and what does not.
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import type { Api } from "./support/api.ts";
import { readRows } from "./support/database.ts";
import {
  createFlag,
  isDelivered,
  logWhen,
  patchFlag,
  readLog,
  register,
  wasAttempted,
} from "./support/delivery-log.ts";
import { day, hour, minute, movableClock } from "./support/movable-clock.ts";
import { accept, type Received, startReceiver } from "./support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

const fail = () => ({ status: 500 });
const isActive = async (admin: Api, id: string): Promise<boolean> =>
  ((await admin("GET", `/webhooks/${id}`)).body as { active: boolean }).active;
const sequenceOf = ({ body }: Received) =>
  (JSON.parse(body.toString()) as { sequence: number }).sequence;

/** What history says of a webhook, oldest first. */
const historyOf = async (id: string) =>
  (
    await readRows(
      server,
      "select actions, actor_key_id as key_id, actor_name, after from history where subject = 'webhook' and subject_id = ? order by id",
      id,
    )
  ).map((row) => ({
    actions: JSON.parse(String(row.actions)) as string[],
    keyId: row.key_id,
    name: row.actor_name,
    after: JSON.parse(String(row.after)) as Record<string, unknown>,
  }));

test("inactive: what happens is not queued; what was pending stays, and goes at once when it is active again", async (t) => {
  const receiver = await startReceiver(fail);
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  const flag = await createFlag(admin);
  await patchFlag(admin, flag, { enabled: true });
  await logWhen(admin, id, 2, ({ event, attempts }) => event.sequence === 2 || attempts.length > 0);
  await admin("PATCH", `/webhooks/${id}`, { active: false });
  await createFlag(admin);
  await patchFlag(admin, flag, { enabled: false });
  clock.forward(hour);
  // A second webhook beside it has been told, so the worker has had its turn with the new time.
  const beside = await startReceiver();
  t.after(() => beside.close());
  const other = await register(admin, beside.url);
  await admin("POST", `/webhooks/${other.id}/test`);
  await logWhen(admin, other.id, 1, isDelivered);
  const waiting = await readLog(admin, id);
  assert.deepEqual(
    waiting.map(({ state, event }) => [state, event.sequence]),
    [
      ["pending", 2],
      ["pending", 1],
    ],
  );
  assert.equal(receiver.received.length, 1);

  receiver.answer(accept);
  await admin("PATCH", `/webhooks/${id}`, { active: true });
  const done = await logWhen(admin, id, 2, isDelivered);
  assert.equal(done.length, 2, "what happened meanwhile was not queued");
  assert.deepEqual(receiver.received.map(sequenceOf), [1, 1, 2]);
  await admin("POST", `/webhooks/${id}/replay`, { afterSequence: 2 });
  await logWhen(admin, id, 4, isDelivered);
  assert.deepEqual(
    receiver.received
      .slice(3)
      .map(sequenceOf)
      .sort((a, b) => a - b),
    [3, 4],
    "but can be replayed",
  );
});

test("a pause that is waited for ends when the webhook is switched off and on", async (t) => {
  const receiver = await startReceiver(() => ({
    status: 503,
    headers: { "retry-after": "80000" },
  }));
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  await createFlag(admin);
  await logWhen(admin, id, 1, wasAttempted);
  receiver.answer(accept);
  for (const active of [false, true]) await admin("PATCH", `/webhooks/${id}`, { active });
  await logWhen(admin, id, 1, isDelivered);
});

test("deleted: its deliveries are dropped, and nothing more is sent", async (t) => {
  const receiver = await startReceiver(fail);
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  await createFlag(admin);
  await createFlag(admin);
  await logWhen(admin, id, 2, wasAttempted);
  const sent = receiver.received.length;
  assert.equal((await admin("DELETE", `/webhooks/${id}`)).status, 204);
  assertRefused(await admin("GET", `/webhooks/${id}/deliveries`), 404, id);
  for (const table of ["deliveries", "delivery_queues"]) {
    const rows = await readRows(server, `select * from ${table} where webhook_id = ?`, id);
    assert.deepEqual(rows, [], table);
  }
  clock.forward(hour);
  const beside = await startReceiver();
  t.after(() => beside.close());
  const other = await register(admin, beside.url);
  await admin("POST", `/webhooks/${other.id}/test`);
  await logWhen(admin, other.id, 1, isDelivered);
  assert.equal(receiver.received.length, sent);
});

test("deleted while a request is under way: the answer goes nowhere and the server goes on", async (t) => {
  const held = Promise.withResolvers<void>();
  const receiver = await startReceiver(async () => {
    await held.promise;
    return { status: 500 };
  });
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  await createFlag(admin);
  await until("the request is there", () => receiver.received.length === 1);
  assert.equal((await admin("DELETE", `/webhooks/${id}`)).status, 204);
  held.resolve();
  const next = await register(admin, receiver.url);
  receiver.answer(accept);
  await createFlag(admin);
  await logWhen(admin, next.id, 1, isDelivered);
});

test("410 Gone deactivates at once; the log and the history say so, the history by halyard", async (t) => {
  const receiver = await startReceiver(() => ({ status: 410, body: "moved away" }));
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  const flag = await createFlag(admin);
  const [delivery] = await logWhen(admin, id, 1, wasAttempted);
  const { status, error, response } = delivery?.attempts[0] ?? {};
  assert.deepEqual(
    [delivery?.state, status, error, response],
    ["pending", 410, "answered 410 Gone; the webhook was deactivated", "moved away"],
  );
  assert.equal(await isActive(admin, id), false);
  await patchFlag(admin, flag, { enabled: true });
  assert.equal((await readLog(admin, id)).length, 1, "nothing more is queued");
  const [, entry] = await historyOf(id);
  assert.deepEqual(
    [entry?.actions, entry?.keyId, entry?.name],
    [["webhook.deactivated"], null, "halyard"],
  );
  assert.deepEqual([entry?.after.active, entry?.after.reason], [false, "it answered 410 Gone"]);

  receiver.answer(accept);
  await admin("PATCH", `/webhooks/${id}`, { active: true });
  await logWhen(admin, id, 1, isDelivered);
});

/** A webhook whose receiver fails; `attempted` makes an attempt after the clock was moved. */
const failingWebhook = async (t: TestContext) => {
  const receiver = await startReceiver(fail);
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  const attempted = async () => {
    const moved = clock.clock().getTime();
    const isLater = ({ at }: { readonly at: string }) => {
      const since = Date.parse(at) - moved;
      return since >= 0 && since < hour;
    };
    // It may be due by itself, and the webhook deactivated by then.
    await admin("POST", `/webhooks/${id}/retry`);
    await until("an attempt is in the log", async () => {
      const log = await readLog(admin, id);
      return log.flatMap(({ attempts }) => attempts).some(isLater);
    });
  };
  await createFlag(admin);
  await logWhen(admin, id, 1, wasAttempted);
  return { admin, id, attempted };
};

test("five days of failures without one success deactivate, and not a moment less", async (t) => {
  const { admin, id, attempted } = await failingWebhook(t);
  for (const passed of [day, day, day, day, day - hour]) {
    clock.forward(passed);
    await attempted();
  }
  assert.equal(await isActive(admin, id), true);
  clock.forward(2 * hour);
  await attempted();
  await until("it is switched off", async () => !(await isActive(admin, id)));
  const entry = (await historyOf(id)).at(-1);
  assert.deepEqual([entry?.actions, entry?.name], [["webhook.deactivated"], "halyard"]);
  assert.equal(entry?.after.reason, "it has not succeeded once in 5 days of failures");

  // Activated by hand it has five days again.
  clock.forward(2 * hour);
  await admin("PATCH", `/webhooks/${id}`, { active: true });
  await attempted();
  assert.equal(await isActive(admin, id), true);
});

for (const [direction, jump] of [
  ["ahead", 6 * day],
  ["behind", -6 * day],
] as const) {
  test(`a clock that is six days ${direction} for a moment deactivates nothing`, async (t) => {
    const { admin, id, attempted } = await failingWebhook(t);
    for (const by of [jump, -jump]) {
      clock.forward(by);
      await attempted();
      assert.equal(await isActive(admin, id), true);
    }
    // The jump counted as one day. Those that really pass count as before.
    for (let passed = 0; passed < 3; passed += 1) {
      clock.forward(day);
      await attempted();
    }
    assert.equal(await isActive(admin, id), true);
    clock.forward(day);
    await attempted();
    await until("it is switched off", async () => !(await isActive(admin, id)));
  });
}

test("one success in between and the five days begin anew", async (t) => {
  const receiver = await startReceiver(fail);
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  await createFlag(admin);
  await logWhen(admin, id, 1, wasAttempted);
  clock.forward(4 * day);
  receiver.answer(accept);
  await logWhen(admin, id, 1, isDelivered);
  receiver.answer(fail);
  const flag = await createFlag(admin);
  await logWhen(admin, id, 2, wasAttempted);
  for (let days = 1; days <= 4; days += 1) {
    clock.forward(day);
    const moved = clock.clock().getTime();
    await until("a retry", async () => {
      const [latest] = await readLog(admin, id, `?flag=${flag}`);
      return latest?.attempts.some(({ at }) => Date.parse(at) >= moved);
    });
  }
  assert.equal(await isActive(admin, id), true);
  clock.forward(day + minute);
  await until("it is switched off", async () => !(await isActive(admin, id)));
});
