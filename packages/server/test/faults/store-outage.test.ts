// The store refuses the worker for a while: it begins nothing new, says so once, and goes on when the store is back.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, test } from "node:test";
import type { DeliveryResult, RunBatch } from "../../src/features/webhooks/sending/batch.ts";
import { runBatch } from "../../src/features/webhooks/sending/run-batch.ts";
import { createSender } from "../../src/features/webhooks/sending/send.ts";
import { startWorker } from "../../src/features/webhooks/sending/worker.ts";
import { createWebhooks } from "../../src/features/webhooks/webhooks.ts";
import { newIds, random } from "../../src/operator/operator.ts";
import { createPrune } from "../../src/server/retention.ts";
import { readRows } from "../support/database.ts";
import { flagsOn } from "../support/store-flags.ts";
import { composeStore } from "./support/composed-store.ts";
import { startReceiver } from "./support/receiver.ts";
import { until } from "./support/until.ts";

const clock = () => new Date();
const lookUp = () => Promise.reject(new Error("no names here"));

test("an outage of the store holds deliveries up, and loses none", async (t) => {
  const { folder, callbacks, caller, store } = await composeStore();
  const receiver = await startReceiver();
  let isAway = false;
  let refusals = 0;
  let largest = 0;
  const largestOf = (results: readonly DeliveryResult[]) => {
    largest = Math.max(largest, results.length);
  };
  const refusing: RunBatch = (batch) => {
    if (isAway) {
      refusals += 1;
      return Promise.reject(new Error("the disk is full"));
    }
    largestOf(batch.results);
    return runBatch(store, batch);
  };
  const errors: object[] = [];
  const sender = createSender({ callbacks, userAgent: "test", lookUp });
  const worker = startWorker({
    store,
    runBatch: refusing,
    prune: createPrune(store),
    sender,
    clock,
    monotonic: () => performance.now(),
    random,
    serviceName: "Service",
    historyRetention: 0,
    log: { warn: () => {}, error: (fields) => errors.push(fields) },
  });
  after(async () => {
    await worker.close();
    await sender.close();
    await store.close();
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const dependencies = { store, clock, random, newIds };
  const webhooks = createWebhooks({ ...dependencies, lookUp, callbacks });
  const hook = await webhooks.create(caller, { url: receiver.url, events: ["*"] });
  assert.ok(hook.result.ok);
  receiver.secret = hook.result.value.secret;
  const flags = flagsOn(store, clock);
  const count = 100;
  for (let index = 0; index < count; index += 1) {
    await flags.create(caller, { key: `flag-${index}`, type: "boolean" });
  }
  const pending = async () =>
    (await readRows({ folder }, "select id from deliveries where state = 'pending'")).length;
  await until(
    "all is told",
    async () => receiver.receipts.length >= count && (await pending()) === 0,
  );

  receiver.behave({ slow: 20 });
  for (let index = 0; index < count; index += 1) {
    await flags.patch(caller, `flag-${index}`, { enabled: true }, undefined);
  }
  await until("some more are sent", () => receiver.receipts.length > count + 8);
  isAway = true;
  await until("it is refused", () => refusals >= 1);
  const sent = receiver.receipts.length;
  await until("it has asked some more", () => refusals >= 4);
  assert.ok(receiver.receipts.length <= sent + 4, "nothing new is begun meanwhile");
  assert.equal(errors.length, 1, "said once");
  isAway = false;
  await until("all is told", async () => (await pending()) === 0);
  const unique = new Set(receiver.receipts.map(({ sequence }) => sequence));
  assert.equal(unique.size, 2 * count);
  assert.equal(receiver.receipts.length, 2 * count, "each of them once");
  assert.deepEqual(receiver.wrong, []);
  t.diagnostic(`refused ${refusals} times; at most ${largest} settled together`);
});
