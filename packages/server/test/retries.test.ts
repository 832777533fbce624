// What follows a failed attempt: when the next one comes, what waits for it, and what happens after the last.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  createFlag,
  isDelivered,
  logWhen,
  patchFlag,
  readLog,
  register,
  wasAttempted,
} from "./support/delivery-log.ts";
import { day, hour, minute, movableClock, second } from "./support/movable-clock.ts";
import { accept, type Received, startReceiver } from "./support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "./support/server.ts";
import { until } from "./support/until.ts";

const clock = movableClock();
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { clock: clock.clock });
});
after(() => server.close());

const eventOf = ({ body }: Received) =>
  JSON.parse(body.toString()) as { sequence: number; data: { flag: { key: string } } };

test("a redirect is a failure, and is not followed", async (t) => {
  const canary = await startReceiver();
  const receiver = await startReceiver();
  t.after(() => Promise.all([receiver.close(), canary.close()]));
  const { admin } = await server.environment();
  for (const status of [301, 302, 303, 304, 307, 308]) {
    receiver.answer(() => ({ status, headers: { location: canary.url } }));
    const { id } = await register(admin, receiver.url);
    await createFlag(admin);
    const [delivery] = await logWhen(admin, id, 1, wasAttempted);
    const attempt = delivery?.attempts[0];
    assert.deepEqual(
      [delivery?.state, attempt?.status, attempt?.error],
      ["pending", status, `answered ${status}; redirects are not followed`],
    );
    await admin("DELETE", `/webhooks/${id}`);
  }
  assert.equal(canary.received.length, 0);
});

test("every 2xx is a success and nothing else is", async (t) => {
  const receiver = await startReceiver(({ path }) => ({ status: Number(path.slice(1)) }));
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const statuses = [200, 201, 202, 204, 206, 226, 299, 300, 400, 401, 404, 408, 409, 429, 500, 503];
  const hooks = new Map<number, string>();
  for (const status of statuses) {
    hooks.set(status, (await register(admin, receiver.url.replace("hook", String(status)))).id);
  }
  await createFlag(admin);
  for (const [status, id] of hooks) {
    const [delivery] = await logWhen(admin, id, 1, wasAttempted);
    assert.equal(delivery?.state, status < 300 ? "delivered" : "pending", String(status));
    assert.equal(delivery?.attempts[0]?.status, status);
  }
});

test("Retry-After is honoured up to a day, and never makes a retry come sooner", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const inTwoHours = new Date(clock.clock().getTime() + 2 * hour).toUTCString();
  const cases: [string, number, number][] = [
    ["3600", hour, hour],
    ["120", 2 * minute, 2 * minute],
    [inTwoHours, 2 * hour - minute, 2 * hour + second],
    ["999999", day, day],
    ["99999999999999", 4 * second, 6 * second],
    ["1", 4 * second, 6 * second],
    ["0", 4 * second, 6 * second],
    ["-5", 4 * second, 6 * second],
    ["soon", 4 * second, 6 * second],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 4 * second, 6 * second],
  ];
  for (const [asked, least, most] of cases) {
    receiver.answer(() => ({ status: 503, headers: { "retry-after": asked } }));
    const { id } = await register(admin, receiver.url);
    await createFlag(admin);
    const [delivery] = await logWhen(admin, id, 1, wasAttempted);
    const at = Date.parse(delivery?.attempts[0]?.at ?? "");
    const pause = Date.parse(delivery?.nextAttemptAt ?? "") - at;
    // From the end of the attempt, which on a busy machine comes a while after its beginning.
    const slack = (delivery?.attempts[0]?.milliseconds ?? 0) + 2_000;
    assert.ok(pause >= least && pause <= most + slack, `${asked}: ${pause}`);
    await admin("DELETE", `/webhooks/${id}`);
  }
});

test("after the last of twelve attempts a delivery is failed, its flag goes on, and it can be replayed", async (t) => {
  let isRight = false;
  const receiver = await startReceiver((request) => ({
    status: eventOf(request).sequence === 1 && !isRight ? 500 : 204,
  }));
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  const flag = await createFlag(admin);
  await patchFlag(admin, flag, { enabled: true });
  const first = async () => (await readLog(admin, id, `?flag=${flag}`)).at(-1);
  const pauses: { readonly longest: number; readonly shortest: number }[] = [];
  for (let attempt = 1; attempt <= 12; attempt += 1) {
    const delivery = await until(`attempt ${attempt}`, async () => {
      const found = await first();
      return found && found.attempts.length >= attempt && found;
    });
    assert.equal(delivery.attempts.length, attempt);
    assert.ok(attempt === 12 || receiver.received.every((each) => eventOf(each).sequence !== 2));
    if (delivery.nextAttemptAt === null) break;
    // It was decided after the end of the attempt and before now, however slow the machine is.
    const last = delivery.attempts.at(-1);
    const end = Date.parse(last?.at ?? "") + (last?.milliseconds ?? 0);
    const next = Date.parse(delivery.nextAttemptAt);
    const now = clock.clock().getTime();
    pauses.push({ longest: (next - end) / second, shortest: (next - now) / second });
    // Another flag of the same webhook does not wait for this one.
    const other = await createFlag(admin);
    await until("the other flag is told", async () => {
      const [told] = await readLog(admin, id, `?flag=${other}`);
      return told?.state === "delivered";
    });
    // Only what is left: on a slow machine the attempt may have begun by itself, and a jump in its middle would count.
    const wait = Date.parse(delivery.nextAttemptAt) - clock.clock().getTime();
    if (wait > 0) clock.forward(wait);
  }
  const expected = [5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
  assert.equal(pauses.length, expected.length);
  for (const [index, pause] of pauses.entries()) {
    const about = expected[index] ?? 0;
    const { longest, shortest } = pause;
    assert.ok(
      longest >= about * 0.8 - 0.1 && shortest <= about * 1.2 + 0.1,
      `pause ${index + 1}: between ${shortest} and ${longest} s, not about ${about}`,
    );
  }
  const failed = await until("it has failed", async () => {
    const found = await first();
    return found?.state === "failed" && found;
  });
  assert.deepEqual([failed.attempts.length, failed.nextAttemptAt], [12, null]);
  assert.ok(failed.settledAt);
  await until("the queue is open again", async () => {
    const [second_] = await readLog(admin, id, `?flag=${flag}`);
    return second_?.event.sequence === 2 && second_.state === "delivered";
  });

  isRight = true;
  const again = await admin("POST", `/webhooks/${id}/deliveries/${failed.id}/replay`);
  assert.equal(again.status, 202);
  await until("the replay is delivered", async () => {
    const [replay] = await readLog(admin, id, `?flag=${flag}`);
    return replay?.kind === "replay" && isDelivered(replay);
  });
  assert.equal((await first())?.state, "failed", "what was, stays in the log");
});

test("a receiver that is back after an outage gets everything, each flag in order", async (t) => {
  const receiver = await startReceiver(() => ({ status: 503 }));
  t.after(() => receiver.close());
  const { admin } = await server.environment();
  const { id } = await register(admin, receiver.url);
  const flags = await Promise.all(Array.from({ length: 8 }, () => createFlag(admin)));
  for (const flag of flags) await patchFlag(admin, flag, { enabled: true });
  await until("the outage is known", () => receiver.received.length >= 10);
  receiver.answer(accept);
  const back = receiver.received.length;
  clock.forward(minute);
  await logWhen(admin, id, 16, isDelivered);
  const order = new Map<string, number[]>();
  for (const { sequence, data } of receiver.received.slice(back).map(eventOf)) {
    order.set(data.flag.key, [...(order.get(data.flag.key) ?? []), sequence]);
  }
  for (const [flag, sequences] of order) {
    assert.deepEqual(
      sequences,
      sequences.toSorted((a, b) => a - b),
      flag,
    );
  }
});

test("a name with addresses of both families reaches the one that answers", async (t) => {
  const receiver = await startReceiver();
  const both = await startTestServer({}, { lookUp: async () => ["::1", "127.0.0.1"] });
  t.after(() => Promise.all([both.close(), receiver.close()]));
  const { admin } = await both.environment();
  // Nobody listens on ::1, as when a receiver was told to listen on IPv4 only.
  const { id } = await register(admin, `http://receiver.example:${receiver.port}/`);
  await createFlag(admin);
  const [delivery] = await logWhen(admin, id, 1, wasAttempted);
  assert.deepEqual([delivery?.state, delivery?.attempts[0]?.error], ["delivered", null]);
});
