// The health of webhooks over real HTTP: what is pending, retried, held back and failed, and everything retried at once.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { DetailedWebhookHealth } from "@halyard/sdk/management";
import { assertRefused } from "./support/answers.ts";
import type { Api } from "./support/api.ts";
import { writeRows } from "./support/database.ts";
import {
  createFlag,
  isDelivered,
  logWhen,
  patchFlag,
  readLog,
  register,
} from "./support/delivery-log.ts";
import { accept, type Received, startReceiver } from "./support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

/** The server's clock stands still: no retry comes by itself, however slow the machine is. */
const now = new Date();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: () => now });
});
after(() => server.close());

const healthOf = async (admin: Api, id: string): Promise<DetailedWebhookHealth> => {
  const answer = await admin("GET", `/webhooks/${id}/health`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as DetailedWebhookHealth;
};

const healthWhen = (
  admin: Api,
  id: string,
  holds: (health: DetailedWebhookHealth) => boolean,
): Promise<DetailedWebhookHealth> =>
  until(`health of ${id} that is ${String(holds)}`, async () => {
    const health = await healthOf(admin, id);
    return holds(health) && health;
  });

const flagOf = ({ body }: Received): string | undefined =>
  (JSON.parse(body.toString()) as { data: { flag?: { key: string } } }).data.flag?.key;
const rejectBad = (request: Received) => ({ status: flagOf(request) === "bad" ? 503 : 204 });

test("health tells what is pending, what is held back behind what, and how the attempts went", async (t) => {
  const receiver = await startReceiver(rejectBad);
  t.after(() => receiver.close());
  const { admin, server: reader } = await server.environment();
  const { id } = await register(admin, receiver.url);
  assert.partialDeepStrictEqual(await healthOf(admin, id), {
    status: "idle",
    pending: 0,
    nextAttemptAt: null,
    lastSuccessAt: null,
    blocking: [],
  });
  await createFlag(admin, "good");
  await healthWhen(admin, id, ({ status }) => status === "healthy");
  await createFlag(admin, "bad");
  await patchFlag(admin, "bad", { enabled: true });
  await patchFlag(admin, "bad", { enabled: false });
  // A receiver that has just accepted a request does not fail yet.
  const mixed = await healthWhen(admin, id, ({ retrying }) => retrying === 1);
  assert.equal(mixed.status, "unstable");
  assert.notEqual(mixed.failingSince, null);
  await writeRows(
    server,
    "update attempt_counts set last_success_at = last_success_at - 60000 where webhook_id = ?",
    id,
  );
  const failing = await healthOf(admin, id);
  const [first] = (await readLog(admin, id, "?flag=bad")).slice(-1);
  assert.partialDeepStrictEqual(failing, {
    webhookId: id,
    status: "failing",
    pending: 3,
    retrying: 1,
    heldBack: 2,
    failed: 0,
    oldestPendingAt: first?.createdAt,
    lastHour: { succeeded: 1, failed: 1 },
    lastDay: { succeeded: 1, failed: 1 },
    lastError: "answered 503",
    blocking: [
      { deliveryId: first?.id, flagKey: "bad", attempts: 1, error: "answered 503", heldBack: 2 },
    ],
  });
  assert.ok(Date.parse(failing.nextAttemptAt ?? "") > Date.parse(failing.lastFailureAt ?? ""));

  const retrying = await readLog(admin, id, "?state=retrying");
  assert.deepEqual(
    retrying.map((delivery) => [delivery.id, delivery.behind]),
    [[first?.id, null]],
  );
  const pending = await readLog(admin, id, "?state=pending");
  assert.deepEqual(
    pending.map(({ behind }) => behind),
    [first?.id, first?.id, null],
    "each says what it waits for",
  );

  // It succeeds with others: neither failing nor healthy.
  await createFlag(admin, "other");
  const unstable = await healthWhen(admin, id, ({ status }) => status === "unstable");
  assert.deepEqual([unstable.lastHour.succeeded, unstable.failingSince], [2, null]);

  const { blocking: _, ...listed } = await healthOf(admin, id);
  const other = await server.environment();
  assert.deepEqual((await admin("GET", "/webhook-health")).body, [listed]);
  assert.deepEqual((await other.admin("GET", "/webhook-health")).body, []);
  assertRefused(await other.admin("GET", `/webhooks/${id}/health`), 404, id);
  assert.deepEqual((await reader("GET", "/webhook-health")).body, [listed]);

  await admin("PATCH", `/webhooks/${id}`, { active: false });
  assert.partialDeepStrictEqual(await healthOf(admin, id), {
    status: "paused",
    deactivatedFor: null,
    pending: 3,
    nextAttemptAt: null,
    blocking: [{ nextAttemptAt: null }],
  });
});

test("a webhook that Halyard deactivated is not taken for one that somebody paused", async (t) => {
  const receiver = await startReceiver(rejectBad);
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  const patch = (changes: object) => admin("PATCH", `/webhooks/${id}`, changes);
  /** The receiver answers with this status when it is released. */
  const hold = (status: number): (() => void) => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    receiver.answer(async (request) => {
      if (flagOf(request) === "gone") return { status: 410 };
      await held;
      return { status };
    });
    return release;
  };
  const requests = (count: number) =>
    until(`request ${count}`, () => receiver.received.length === count);
  await createFlag(admin, "bad");
  await healthWhen(admin, id, ({ status }) => status === "failing");
  await patch({ active: false });
  const paused = { status: "paused", failingSince: null, deactivatedFor: null };
  assert.partialDeepStrictEqual(await healthOf(admin, id), paused);

  const fail = hold(503);
  await patch({ active: true });
  await requests(2);
  await patch({ active: false });
  fail();
  const late = await healthWhen(admin, id, ({ lastHour }) => lastHour.failed === 2);
  assert.partialDeepStrictEqual(late, paused, "whatever becomes of the request under way");

  receiver.answer(() => ({ status: 410 }));
  await patch({ active: true });
  const deactivated = await healthWhen(admin, id, ({ status }) => status === "deactivated");
  assert.partialDeepStrictEqual(deactivated, {
    deactivatedFor: "it answered 410 Gone",
    pending: 1,
    nextAttemptAt: null,
  });
  await patch({ events: ["flag.created"] });
  assert.deepEqual(await healthOf(admin, id), deactivated, "whatever else is changed");

  receiver.answer(accept);
  await patch({ active: true });
  const resumed = await healthWhen(admin, id, ({ pending }) => pending === 0);
  assert.deepEqual([resumed.status, resumed.deactivatedFor], ["unstable", null]);

  const succeed = hold(204);
  await createFlag(admin, "slow");
  await requests(5);
  await createFlag(admin, "gone");
  await healthWhen(admin, id, ({ status }) => status === "deactivated");
  succeed();
  const last = await healthWhen(admin, id, ({ lastHour }) => lastHour.succeeded === 2);
  assert.equal(last.status, "deactivated", "one success beside it does not hide it");
});

test("5,031 undelivered events do not hide the one that fails", async (t) => {
  const receiver = await startReceiver(() => ({ status: 500 }));
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  await createFlag(admin, "bad");
  const [first] = await logWhen(admin, id, 1, ({ attempts }) => attempts.length > 0);
  await writeRows(
    server,
    `with recursive more(number) as (select 1 union all select number + 1 from more where number < 5030)
     insert into deliveries (id, webhook_id, queue_id, event_id, sequence, kind, state, attempts, created_at)
     select 'dlv_00' || number, webhook_id, queue_id, event_id, sequence, kind, 'pending', 0, created_at
     from more, deliveries where webhook_id = ? and id = ?`,
    id,
    first?.id ?? "",
  );
  const health = await healthOf(admin, id);
  assert.partialDeepStrictEqual(health, {
    status: "failing",
    pending: 5_031,
    retrying: 1,
    heldBack: 5_030,
    blocking: [{ deliveryId: first?.id, heldBack: 5_030 }],
  });
  const retrying = await readLog(admin, id, "?state=retrying");
  assert.deepEqual(
    retrying.map((delivery) => delivery.id),
    [first?.id],
  );
});

test("all that failed or waits is retried now; what fails again has had its one attempt", async (t) => {
  const receiver = await startReceiver(rejectBad);
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  await createFlag(admin, "bad");
  await healthWhen(admin, id, ({ retrying }) => retrying === 1);
  await admin("PATCH", `/webhooks/${id}`, { active: false });
  assertRefused(await admin("POST", `/webhooks/${id}/retry`), 409, id);
  // As after the last attempt, without the three days until then.
  await writeRows(
    server,
    "update deliveries set state = 'failed', attempts = 12, settled_at = created_at where webhook_id = ?",
    id,
  );
  await writeRows(server, "update delivery_queues set due_at = null where webhook_id = ?", id);
  await admin("PATCH", `/webhooks/${id}`, { active: true });
  assert.partialDeepStrictEqual(await healthOf(admin, id), { pending: 0, failed: 1 });

  const answer = await admin("POST", `/webhooks/${id}/retry`);
  assert.deepEqual([answer.status, answer.body], [202, { retried: 1, complete: true }]);
  await healthWhen(admin, id, ({ lastHour, failed }) => lastHour.failed === 2 && failed === 1);

  // A new event waits for its retry; what failed is sent again beside it.
  await patchFlag(admin, "bad", { enabled: true });
  await healthWhen(admin, id, ({ retrying }) => retrying === 1);
  receiver.answer(accept);
  assert.deepEqual((await admin("POST", `/webhooks/${id}/retry`)).body, {
    retried: 1,
    complete: true,
  });
  const log = await logWhen(admin, id, 2, isDelivered);
  assert.equal(log.length, 2, "no new delivery was made");
  assert.partialDeepStrictEqual(await healthOf(admin, id), { pending: 0, failed: 0, retrying: 0 });
  assert.deepEqual((await admin("POST", `/webhooks/${id}/retry`)).body, {
    retried: 0,
    complete: true,
  });
});

test("a replay tells what became of it", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  await createFlag(admin, "good");
  await createFlag(admin, "bad");
  await logWhen(admin, id, 2, isDelivered);
  receiver.answer(rejectBad);
  const begun = await admin("POST", `/webhooks/${id}/replay`, { afterSequence: 0 });
  assert.partialDeepStrictEqual(begun.body, { replayed: 2, pending: 2, failed: 0 });
  const progress = async () => (await admin("GET", `/webhooks/${id}/replay`)).body as object;
  await healthWhen(admin, id, ({ pending, retrying }) => pending === 1 && retrying === 1);
  assert.partialDeepStrictEqual(await progress(), { replayed: 2, pending: 1, failed: 0 });
  await writeRows(
    server,
    "update deliveries set state = 'failed', settled_at = created_at where webhook_id = ? and state = 'pending'",
    id,
  );
  assert.partialDeepStrictEqual(await progress(), { replayed: 2, pending: 0, failed: 1 });
});
