// A change that fails at any step leaves nothing behind: no event, no delivery, no signal, nothing at the receiver.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { after, describe, test } from "node:test";
import { runBatch } from "../../src/features/webhooks/sending/run-batch.ts";
import { createSender } from "../../src/features/webhooks/sending/send.ts";
import { startWorker } from "../../src/features/webhooks/sending/worker.ts";
import { createWebhooks } from "../../src/features/webhooks/webhooks.ts";
import { newIds, random } from "../../src/operator/operator.ts";
import type { Commit, Store, Transaction } from "../../src/platform/database/store.ts";
import { createPrune } from "../../src/server/retention.ts";
import { readRows } from "../support/database.ts";
import { refusalsOf, refuseCommits, refuseWrites } from "../support/refusal-trigger.ts";
import { startTestServer } from "../support/server.ts";
import { flagsOn } from "../support/store-flags.ts";
import { register } from "./support/client.ts";
import { composeStore } from "./support/composed-store.ts";
import { type Receiver, startReceiver } from "./support/receiver.ts";
import { until } from "./support/until.ts";

const tables = [
  "environments",
  "flags",
  "history",
  "events",
  "webhooks",
  "delivery_queues",
  "deliveries",
  "attempts",
];
const readAll = (folder: string) =>
  Promise.all(tables.map((table) => readRows({ folder }, `select * from ${table}`)));
const pending = async (folder: string) =>
  (await readRows({ folder }, "select id from deliveries where state = 'pending'")).length;

/** The receiver has been told each of these numbers once, in this order, and nothing is on its way. */
const assertTold = async (folder: string, { receipts, wrong }: Receiver, count: number) => {
  await until(
    "the event arrives",
    async () => receipts.length >= count && (await pending(folder)) === 0,
  );
  assert.deepEqual(
    receipts.map(({ sequence }) => sequence),
    Array.from({ length: count }, (_, index) => index + 1),
  );
  assert.deepEqual(wrong, []);
};

class Forced extends Error {
  override readonly name = "Forced";
}

/** The store, whose transactions fail just before or just after their n-th call; undefined when it came to no such call. */
const failingAt = (store: Store, call: number, moment: "before" | "after"): Store => ({
  ...store,
  transact: (callback, environmentId) =>
    store.transact((transaction) => {
      let calls = 0;
      const wrapped = Object.entries(transaction).map(([name, method]) => [
        name,
        async (...args: unknown[]) => {
          calls += 1;
          const isIt = calls === call;
          if (isIt && moment === "before") throw new Forced();
          const result: unknown = await (method as (...args: unknown[]) => unknown)(...args);
          if (isIt) throw new Forced();
          return result;
        },
      ]);
      return callback(Object.fromEntries(wrapped) as Transaction);
    }, environmentId),
});

describe("a call inside the transaction fails", async () => {
  const { folder, callbacks, caller, store } = await composeStore();
  const receiver = await startReceiver();
  const clock = () => new Date();
  const lookUp = () => Promise.reject(new Error("no names here"));
  const signals: Commit[] = [];
  store.onCommit(async (commit) => {
    if (commit.queued.size + commit.changed.size > 0) signals.push(commit);
  });
  const webhooks = createWebhooks({ store, clock, random, newIds, lookUp, callbacks });
  const sender = createSender({ callbacks, userAgent: "test", lookUp });
  const worker = startWorker({
    store,
    runBatch: (batch) => runBatch(store, batch),
    prune: createPrune(store),
    sender,
    clock,
    monotonic: () => performance.now(),
    random,
    serviceName: "Service",
    historyRetention: 0,
    log: { warn: () => {}, error: (fields) => assert.fail(JSON.stringify(fields)) },
  });
  after(async () => {
    await worker.close();
    await sender.close();
    await store.close();
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const hook = await webhooks.create(caller, { url: receiver.url, events: ["*"] });
  assert.ok(hook.result.ok);
  receiver.secret = hook.result.value.secret;
  signals.length = 0;
  let told = 0;

  type Callback = (flags: ReturnType<typeof flagsOn>) => Promise<unknown>;
  const changes: [name: string, callback: Callback, events: number][] = [
    ["POST", (flags) => flags.create(caller, { key: "a", type: "rollout" }), 1],
    ["PATCH", (flags) => flags.patch(caller, "a", { enabled: true, percentage: 5 }, undefined), 2],
    ["DELETE", (flags) => flags.remove(caller, "a", undefined), 1],
  ];
  for (const [name, callback, events] of changes) {
    for (const moment of ["before", "after"] as const) {
      test(`${name}: ${moment} each call in turn`, async () => {
        const before = await readAll(folder);
        let failures = 0;
        for (let call = 1; ; call += 1) {
          const attempt = callback(flagsOn(failingAt(store, call, moment), clock));
          const failed = await attempt.then(
            () => false,
            (error: unknown) => {
              if (error instanceof Forced) return true;
              throw error;
            },
          );
          if (!failed) break;
          failures += 1;
          assert.deepEqual(await readAll(folder), before, `call ${call}`);
          assert.deepEqual(signals, [], `call ${call} told the worker`);
          assert.equal(receiver.receipts.length, told);
        }
        // Lock, read the flag, write: no fewer.
        assert.ok(failures >= 3, `${failures}`);
        told += events;
        await assertTold(folder, receiver, told);
        assert.equal(signals.length, 1);
        signals.length = 0;
        // Back to where it was, for the next.
        if (moment === "after") return;
        const flags = flagsOn(store, clock);
        if (name === "POST") await flags.remove(caller, "a", undefined);
        if (name === "PATCH") {
          await flags.patch(caller, "a", { enabled: false, percentage: 0 }, undefined);
          told += 1;
        }
        if (name === "DELETE") await flags.create(caller, { key: "a", type: "rollout" });
        told += 1;
        await assertTold(folder, receiver, told);
        signals.length = 0;
      });
    }
  }
});

describe("the database refuses a statement, or the commit", async () => {
  const server = await startTestServer();
  const receiver = await startReceiver();
  after(async () => {
    await server.close();
    await receiver.close();
  });
  const { folder } = server;
  const { admin, keys } = await server.environment();
  await register({ url: server.url, key: keys.admin }, receiver);
  assert.equal((await admin("POST", "/flags", { key: "a", type: "boolean" })).status, 201);
  let told = 1;
  await assertTold(folder, receiver, told);

  const places = [
    "before update on flags",
    "after update on environments",
    "before insert on history",
    "after insert on events",
    "before update on delivery_queues",
    "before insert on deliveries",
    "after insert on deliveries",
  ];
  const refusals: [name: string, begin: () => Promise<() => Promise<void>>][] = places.flatMap(
    (place) =>
      refusalsOf.map((how): (typeof refusals)[number] => [
        `${place} (${how})`,
        () => refuseWrites(server, place, how),
      ]),
  );
  refusals.push(["at the commit", () => refuseCommits(server)]);
  let enabled = false;
  for (const [name, begin] of refusals) {
    test(`${name}`, async () => {
      const before = await readAll(folder);
      const end = await begin();
      for (let time = 0; time < 3; time += 1) {
        const refused = await admin("PATCH", "/flags/a", { enabled: !enabled });
        assert.equal(refused.status, 500, refused.text);
        assert.deepEqual(await readAll(folder), before);
      }
      await end();
      assert.deepEqual(receiver.receipts.length, told);
      enabled = !enabled;
      const answer = await admin("PATCH", "/flags/a", { enabled });
      assert.equal(answer.status, 200, answer.text);
      told += 1;
      await assertTold(folder, receiver, told);
    });
  }
});
