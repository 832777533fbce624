// The delivery worker on a store that is silent, or where something cannot be deleted.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { listDeliveries } from "../src/features/webhooks/deliveries/queries.ts";
import type { Outcome } from "../src/features/webhooks/deliveries/rules.ts";
import type { RunBatch } from "../src/features/webhooks/sending/batch.ts";
import { runBatch } from "../src/features/webhooks/sending/run-batch.ts";
import {
  startWorker,
  type Worker,
  type WorkerDependencies,
} from "../src/features/webhooks/sending/worker.ts";
import { createSecretCipher } from "../src/platform/database/secrets/secret-cipher.ts";
import { createSqlStore } from "../src/platform/database/sql-store.ts";
import { openSqliteEngine } from "../src/platform/database/sqlite/store.ts";
import type { Store } from "../src/platform/database/store.ts";
import { createPrune } from "../src/server/retention.ts";
import type { Webhook } from "../src/writes/webhook.ts";
import { newFolder } from "./support/server.ts";
import { addEnvironment, addWebhook, at, changeFlag, createFlag } from "./support/store-steps.ts";
import { until } from "./support/until.ts";

const accepted: Outcome = {
  kind: "answered",
  status: 204,
  retryAfter: undefined,
  response: "",
  milliseconds: 1,
};

const openStore = async (t: TestContext): Promise<Store> => {
  const folder = newFolder();
  const secrets = createSecretCipher([randomBytes(32)]);
  const store = createSqlStore(await openSqliteEngine(folder, { mayMigrate: true }), secrets);
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return store;
};

interface Started extends Worker {
  /** Ids of deliveries. */
  readonly sent: readonly (string | undefined)[];
  readonly messages: readonly string[];
}

const start = (
  store: Store,
  clock: () => Date,
  faults: Partial<Pick<WorkerDependencies, "runBatch" | "prune">>,
  receive: () => Promise<void> = () => Promise.resolve(),
): Started => {
  const sent: (string | undefined)[] = [];
  const messages: string[] = [];
  const tell = (_: object, message: string): void => {
    messages.push(message);
  };
  const worker = startWorker({
    store,
    runBatch: (batch) => runBatch(store, batch),
    prune: createPrune(store),
    ...faults,
    sender: {
      async send(_, headers) {
        sent.push(headers["X-Halyard-Delivery"]);
        await receive();
        return accepted;
      },
      abort() {},
    },
    clock,
    monotonic: () => performance.now(),
    random: (size) => new Uint8Array(randomBytes(size)),
    serviceName: "Halyard",
    publicUrl: undefined,
    historyRetention: 0,
    log: { warn: tell, error: tell },
  });
  return { ...worker, sent, messages };
};

const areDelivered = async (store: Store, webhooks: readonly Webhook[]): Promise<boolean> => {
  const lists = await Promise.all(
    webhooks.map(({ id }) => listDeliveries(store, id, { limit: 100 })),
  );
  return lists.flat().every(({ state }) => state === "delivered");
};

/** More than are recorded in one transaction. */
const many = 600;

test("what is sent while the store is silent for longer than a lease is not sent again", async (t) => {
  const store = await openStore(t);
  const environments = await Promise.all(Array.from({ length: 8 }, () => addEnvironment(store)));
  const webhooks = await Promise.all(
    environments.flatMap(({ id }) => Array.from({ length: 20 }, () => addWebhook(store, id))),
  );
  const create = (key: string) =>
    Promise.all(environments.map(({ id }) => changeFlag(store, id, createFlag(key))));

  let storeAnswers: Promise<void> = Promise.resolve();
  let receiversAnswer: Promise<void> = Promise.resolve();
  let passed = 0;
  let claimed = 0;
  const waiting: RunBatch = async (batch) => {
    await storeAnswers;
    const found = await runBatch(store, batch);
    claimed += found.claims.length;
    return found;
  };
  const clock = () => new Date(at.getTime() + passed);
  const worker = start(store, clock, { runBatch: waiting }, () => receiversAnswer);
  // A webhook that has answered once gets several requests at once.
  await create("first");
  await until("all webhooks are proven", () => areDelivered(store, webhooks));

  const [receivers, silence] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  receiversAnswer = receivers.promise;
  claimed = 0;
  for (let flag = 0; flag < 8; flag += 1) await create(`flag-${flag}`);
  await until("many are claimed", () => claimed >= many);
  storeAnswers = silence.promise;
  receivers.resolve();
  await until("as many are sent", () => worker.sent.length >= webhooks.length + many);
  passed = 60_000;
  silence.resolve();
  await until("all are delivered", () => areDelivered(store, webhooks));
  await worker.close();
  assert.equal(new Set(worker.sent).size, 9 * webhooks.length);
  assert.equal(worker.sent.length, 9 * webhooks.length, "each of them once");
  assert.deepEqual(worker.messages, []);
});

test("deliveries go on when what is old cannot be deleted", async (t) => {
  const store = await openStore(t);
  const environment = await addEnvironment(store);
  const webhook = await addWebhook(store, environment.id);
  const prune = () => Promise.reject(new Error("locked"));
  const worker = start(store, () => at, { prune });
  await until("it has tried", () => worker.messages.length > 0);
  await changeFlag(store, environment.id, createFlag("one"));
  await until("it is delivered", () => areDelivered(store, [webhook]));
  await worker.close();
  assert.equal(worker.sent.length, 1);
  assert.deepEqual(worker.messages, [
    "old rows could not be deleted; it is tried again in a minute",
  ]);
});
