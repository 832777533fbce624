// A receiver that refuses some flags for good: they keep to their schedule, and an outage leaves no long wait behind it.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, test } from "node:test";
import { readRows, writeRows } from "../support/database.ts";
import { serveHalyard } from "../support/halyard-process.ts";
import { newFolder, startTestServer } from "../support/server.ts";
import { call, register } from "./support/client.ts";
import { startReceiver } from "./support/receiver.ts";
import { until } from "./support/until.ts";

const minute = 60_000;

test("flags that always fail are not tried more often because others succeed", async (t) => {
  const server = await startTestServer();
  const receiver = await startReceiver();
  after(async () => {
    await server.close();
    await receiver.close();
  });
  const { admin, keys } = await server.environment();
  await register({ url: server.url, key: keys.admin }, receiver);
  receiver.behave(({ flagKey }) => (flagKey.startsWith("bad") ? "unavailable" : "up"));
  let changes = 0;
  const slowest = { milliseconds: 0 };
  const tellGood = async (): Promise<void> => {
    changes += 1;
    const description = `change ${changes}`;
    await admin("PATCH", "/flags/good", { description });
    const took = await until("the good flag is told", () => {
      const good = receiver.receipts.filter(({ flagKey }) => flagKey === "good");
      return good.length === changes + 1;
    });
    slowest.milliseconds = Math.max(slowest.milliseconds, took);
  };
  await admin("POST", "/flags", { key: "good", type: "boolean" });
  // More than it takes to open the breaker, when they are tried again one after the other.
  const bad = Array.from({ length: 24 }, (_, index) => `bad-${index}`);
  for (const key of bad) {
    await admin("POST", "/flags", { key, type: "boolean" });
    await tellGood();
  }
  const started = performance.now();
  // Seldom enough that many of the others are refused in a row.
  for (let second = 0; second < 10; second += 1) {
    await until("a second has passed", () => performance.now() - started > second * 1_000);
    await tellGood();
  }
  const tries = bad.map((key) => receiver.receipts.filter(({ flagKey }) => flagKey === key).length);
  t.diagnostic(
    `${changes} changes of the good flag, told within ${Math.round(slowest.milliseconds)} ms; requests for each bad one: ${tries.join()}`,
  );
  // At once, after about 5 s, and one more when the receiver seemed to be back; the next is half a minute away.
  assert.ok(Math.max(...tries) <= 3, tries.join());
  assert.ok(Math.min(...tries) >= 1, tries.join());
});

/** A server that was killed while a receiver had failed for so long and each of 30 flags waited for half an hour more. */
const restartAfter = async (outage: number) => {
  const folder = newFolder();
  const receiver = await startReceiver();
  const key = "a-key-for-the-test-of-restarts";
  const settings = { HALYARD_BOOTSTRAP_KEYS: `development=${key}`, HALYARD_LOG_LEVEL: "fatal" };
  let server = await serveHalyard(folder, settings);
  const close = async () => {
    server.kill("SIGKILL");
    await server.ended;
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  };
  await register({ url: server.url, key }, receiver);
  receiver.behave("reset");
  const create = async (flag: string) => {
    const body = { key: flag, type: "boolean" };
    assert.equal((await call({ url: server.url, key }, "POST", "/flags", body)).status, 201);
  };
  for (let flag = 0; flag < 30; flag += 1) await create(`flag-${flag}`);
  await until("a failure is written down", async () => {
    const [row] = await readRows({ folder }, "select failing_since from webhooks");
    return row?.failing_since !== null;
  });
  server.kill("SIGKILL");
  await server.ended;
  const now = Date.now();
  await writeRows({ folder }, "update webhooks set failing_since = ?", now - outage);
  await writeRows(
    { folder },
    "update delivery_queues set lease_id = null, lease_until = 0, due_at = ?",
    now + 30 * minute,
  );
  receiver.behave({ slow: 5 });
  const before = receiver.receipts.length;
  server = await serveHalyard(folder, settings);
  await create("fresh");
  const pending = async () =>
    (await readRows({ folder }, "select id from deliveries where state = 'pending'")).length;
  return { pending, told: () => receiver.receipts.slice(before), wrong: receiver.wrong, close };
};

test("after an outage and a restart, the first success lets everything go", async (t) => {
  const { pending, told, wrong, close } = await restartAfter(60 * minute);
  after(close);
  const took = await until("all is told", async () => (await pending()) === 0);
  t.diagnostic(`all told after ${Math.round(took)} ms`);
  const [first, second, ...rest] = told();
  assert.equal(first?.flagKey, "fresh");
  assert.ok(second && second.at - first.at >= 4, "the first went alone");
  assert.equal(rest.length, 29);
  assert.deepEqual(wrong, []);
});

test("after a moment's trouble and a restart, what failed for other reasons goes on waiting", async () => {
  const { pending, told, wrong, close } = await restartAfter(2_000);
  after(close);
  await until("the fresh one is told and settled", async () => (await pending()) === 30);
  const started = performance.now();
  await until("the worker looks twice", () => performance.now() - started > 2_500);
  assert.deepEqual(
    told().map(({ flagKey }) => flagKey),
    ["fresh"],
  );
  assert.equal(await pending(), 30);
  assert.deepEqual(wrong, []);
});
