// Sending again and trying out: the test event, one delivery again, a range of events again.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertRefused } from "./support/answers.ts";
import type { Answer } from "./support/api.ts";
import {
  createFlag,
  isDelivered,
  logWhen,
  patchFlag,
  readLog,
  register,
  type ShownDelivery,
  wasAttempted,
} from "./support/delivery-log.ts";
import { hour, minute, movableClock } from "./support/movable-clock.ts";
import { type Received, startReceiver } from "./support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

interface Event {
  readonly id: string;
  readonly type: string;
  readonly sequence: number | null;
  readonly environment: string;
  readonly data: unknown;
}
const eventOf = ({ body }: Received): Event => JSON.parse(body.toString()) as Event;
const sequencesOf = (received: readonly Received[]) =>
  received.map((each) => eventOf(each).sequence);

test("a test event goes to that webhook alone, whatever its events, and has no place in the order", async (t) => {
  const [asked, beside] = [await startReceiver(), await startReceiver()];
  t.after(() => Promise.all([asked.close(), beside.close()]));
  const { admin, name } = await server.environment();
  const one = await register(admin, asked.url, ["flag.deleted"]);
  const other = await register(admin, beside.url);
  const answer = await admin("POST", `/webhooks/${one.id}/test`);
  assert.equal(answer.status, 202, answer.text);
  const queued = answer.body as ShownDelivery;
  assert.deepEqual(
    [queued.kind, queued.state, queued.event.type, queued.event.sequence, queued.event.flagKey],
    ["test", "pending", "webhook.test", null, null],
  );
  const [delivered] = await logWhen(admin, one.id, 1, isDelivered);
  assert.equal(delivered?.id, queued.id);
  const [request] = asked.received;
  assert.ok(request);
  const { type, sequence, environment, id } = eventOf(request);
  assert.deepEqual([type, sequence, environment], ["webhook.test", null, name]);
  assert.equal(request.headers["webhook-id"], id);
  assert.equal(request.headers["x-service-event"], "webhook.test");

  await createFlag(admin);
  await logWhen(admin, other.id, 1, isDelivered);
  assert.deepEqual(sequencesOf(beside.received), [1], "the test took no number");
  assert.equal(asked.received.length, 1);

  const repeated = await Promise.all(
    Array.from({ length: 3 }, () =>
      admin("POST", `/webhooks/${one.id}/test`, undefined, { "idempotency-key": "try" }),
    ),
  );
  assert.equal(new Set(repeated.map(({ text }) => text)).size, 1);
  await logWhen(admin, one.id, 2, isDelivered);
  assert.equal(asked.received.length, 2, "the same key sends one");

  await admin("PATCH", `/webhooks/${one.id}`, { active: false });
  assertRefused(await admin("POST", `/webhooks/${one.id}/test`), 409, one.id, "not active");
});

test("a test does not wait for the retries of a test that failed", async (t) => {
  const receiver = await startReceiver(() => ({ status: 500 }));
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  clock.stop();
  t.after(() => clock.go());
  for (let number = 1; number <= 3; number += 1) {
    await admin("POST", `/webhooks/${id}/test`);
    const log = await logWhen(admin, id, number, wasAttempted);
    assert.deepEqual(
      log.map(({ attempts }) => attempts.length),
      Array.from({ length: number }, () => 1),
      "the earlier ones wait for their retry",
    );
  }
});

test("one delivery again: a new delivery with the same event and the same bytes", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  const beside = await register(admin, "http://127.0.0.1:9/", ["flag.deleted"]);
  const flag = await createFlag(admin);
  const [first] = await logWhen(admin, id, 1, isDelivered);
  assert.ok(first);
  await patchFlag(admin, flag, { description: "changed since" });
  await logWhen(admin, id, 2, isDelivered);
  const answer = await admin("POST", `/webhooks/${id}/deliveries/${first.id}/replay`);
  assert.equal(answer.status, 202, answer.text);
  const queued = answer.body as ShownDelivery;
  assert.notEqual(queued.id, first.id);
  assert.deepEqual([queued.kind, queued.state, queued.event], ["replay", "pending", first.event]);
  await logWhen(admin, id, 3, isDelivered);
  const [original, , again] = receiver.received;
  assert.ok(original && again);
  assert.deepEqual(again.body, original.body);
  assert.equal(again.headers["webhook-id"], original.headers["webhook-id"]);
  assert.equal(again.headers["x-service-delivery"], queued.id);

  // A replay can be replayed, and the one it came from stays as it was.
  assert.deepEqual((await readLog(admin, id)).at(-1), first);
  const twice = await admin("POST", `/webhooks/${id}/deliveries/${queued.id}/replay`);
  assert.equal((twice.body as ShownDelivery).event.id, first.event.id);
  const missing = await admin("POST", `/webhooks/${id}/deliveries/dlv_00/replay`);
  assertRefused(missing, 404, '"dlv_00"');
  const foreign = await admin("POST", `/webhooks/${beside.id}/deliveries/${first.id}/replay`);
  assertRefused(foreign, 404, first.id);
  await logWhen(admin, id, 4, isDelivered);
  await admin("PATCH", `/webhooks/${id}`, { active: false });
  const inactive = await admin("POST", `/webhooks/${id}/deliveries/${first.id}/replay`);
  assertRefused(inactive, 409, id, "not active");
});

test("a range again, by sequence and by times: subscribed types only, each flag in order", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const times: string[] = [];
  const step = async (change: () => Promise<unknown>) => {
    await change();
    times.push(clock.clock().toISOString());
    clock.forward(hour);
  };
  await step(() => createFlag(admin, "a")); // 1 created
  await step(() => patchFlag(admin, "a", { enabled: true })); // 2 enabled
  await step(() => patchFlag(admin, "a", { enabled: false })); // 3 disabled
  await step(() => createFlag(admin, "b")); // 4 created
  await step(() => patchFlag(admin, "b", { enabled: true, description: "x" })); // 5 enabled, 6 updated
  await step(() => admin("DELETE", "/flags/a")); // 7 deleted
  const { id } = await register(admin, receiver.url, [
    "flag.created",
    "flag.enabled",
    "flag.deleted",
  ]);
  const everything = await register(admin, receiver.url);

  const again = async (body: object, webhook = id): Promise<[Answer, (number | null)[]]> => {
    const [sent, known] = [receiver.received.length, (await readLog(admin, webhook)).length];
    const answer = await admin("POST", `/webhooks/${webhook}/replay`, body);
    assert.equal(answer.status, 202, answer.text);
    const { replayed } = answer.body as { replayed: number };
    const log = await logWhen(admin, webhook, known + replayed, isDelivered);
    assert.equal(log.length, known + replayed);
    return [answer, sequencesOf(receiver.received.slice(sent)).sort((a, b) => (a ?? 0) - (b ?? 0))];
  };
  const cases: [object, number[], number | null][] = [
    [{ afterSequence: 0 }, [1, 2, 4, 5, 7], 7],
    [{ afterSequence: 2 }, [4, 5, 7], 7],
    [{ afterSequence: 7 }, [], null],
    [{ afterSequence: 1e15 }, [], null],
    [{ from: times[1], to: times[4] }, [4, 5], 5],
    [{ from: times[3] }, [5, 7], 7],
    [{ to: times[1] }, [1, 2], 2],
    [{ afterSequence: 1, to: times[3] }, [2, 4], 4],
    [{ from: "2001-01-01", to: "2001-02-01" }, [], null],
    [{ from: "2001-01-01T00:00:00+02:00" }, [1, 2, 4, 5, 7], 7],
  ];
  for (const [body, expected, throughSequence] of cases) {
    const [answer, sequences] = await again(body);
    const said = answer.body as Readonly<Record<string, unknown>>;
    assert.deepEqual(
      [said.replayed, said.throughSequence, said.complete, said.state, sequences],
      [expected.length, throughSequence, true, "complete", expected],
      JSON.stringify(body),
    );
    const { pending, ...rest } = said;
    assert.equal(pending, expected.length, "all of it, when it was queued");
    assert.partialDeepStrictEqual((await admin("GET", `/webhooks/${id}/replay`)).body, rest);
  }
  const [, all] = await again({ afterSequence: 0 }, everything.id);
  assert.deepEqual(all, [1, 2, 3, 4, 5, 6, 7]);
  const ofA = receiver.received
    .slice(-7)
    .map(eventOf)
    .filter(({ data }) => {
      return (data as { flag: { key: string } }).flag.key === "a";
    });
  assert.deepEqual(
    ofA.map(({ sequence }) => sequence),
    [1, 2, 3, 7],
    "in order per flag",
  );
  clock.forward(minute);
});

test("a range that cannot be meant is refused with the field's name, and nothing is sent", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  await createFlag(admin);
  const { id } = await register(admin, receiver.url);
  const bad: [unknown, string][] = [
    [{}, "afterSequence"],
    [[], "JSON object"],
    [null, "JSON object"],
    [{ afterSequence: -1 }, "afterSequence"],
    [{ afterSequence: 1.5 }, "afterSequence"],
    [{ afterSequence: "1" }, "afterSequence"],
    [{ afterSequence: null }, "afterSequence"],
    [{ from: "yesterday" }, "from"],
    [{ from: "" }, "from"],
    [{ from: 1_700_000_000 }, "from"],
    [{ from: "2026-13-01" }, "from"],
    [{ from: "2026-11-01", to: "2026-11-31x" }, "to"],
    [{ from: "2026-11-02", to: "2026-11-01" }, "to must not be before from"],
    [{ from: "2026-11-01T12:00:00" }, "from"],
    [{ from: "2026-11-01 12:00 PST" }, "from"],
    [{ afterSequence: 0, since: 1 }, "since"],
  ];
  for (const [body, word] of bad) {
    assertRefused(await admin("POST", `/webhooks/${id}/replay`, body), 400, word);
  }
  const none = await admin("POST", `/webhooks/${id}/replay`);
  assertRefused(none, 400);
  assertRefused(await admin("POST", "/webhooks/wh_00/replay", { afterSequence: 0 }), 404, "wh_00");
  await admin("PATCH", `/webhooks/${id}`, { active: false });
  const inactive = await admin("POST", `/webhooks/${id}/replay`, { afterSequence: 0 });
  assertRefused(inactive, 409, id, "not active");
  assert.deepEqual([await readLog(admin, id), receiver.received], [[], []]);
});
