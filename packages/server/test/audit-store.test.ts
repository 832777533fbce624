// The audit log directly on a store: what takes rare moments over HTTP.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { insertEnvironment } from "../src/features/environments/queries.ts";
import { createDeliveries } from "../src/features/webhooks/deliveries/deliveries.ts";
import { listDeliveries } from "../src/features/webhooks/deliveries/queries.ts";
import { queueDeliveries } from "../src/features/webhooks/deliveries/queue-queries.ts";
import { newIds, random } from "../src/operator/operator.ts";
import { createSecretCipher } from "../src/platform/database/secrets/secret-cipher.ts";
import { secretKeysIn } from "../src/platform/database/secrets/secret-key-file.ts";
import { createSqlStore } from "../src/platform/database/sql-store.ts";
import { openSqliteEngine } from "../src/platform/database/sqlite/store.ts";
import { createAudit } from "../src/platform/telemetry/audit.ts";
import { newFolder } from "./support/server.ts";
import { addEnvironment, addWebhook, changeFlag, createFlag } from "./support/store-steps.ts";

const openAudited = async (t: TestContext) => {
  const folder = newFolder();
  const lines: Record<string, unknown>[] = [];
  const audit = createAudit({ info: (fields) => lines.push({ ...fields }) });
  const store = createSqlStore(
    await openSqliteEngine(folder, { mayMigrate: true }),
    createSecretCipher(secretKeysIn(folder, [])),
  );
  const replica = audit.follow(store);
  t.after(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const look = async () => replica.beginPoll()(await store.positions());
  return { store, lines, look };
};

test("an unfinished copy, and one that was never made, are not told as deleted", async (t) => {
  const { store, lines, look } = await openAudited(t);
  const at = new Date();
  const { id } = await store.transact((transaction) => insertEnvironment(transaction, "one", at));
  await look();
  // A copy of an environment is hidden until it is finished: the audit log must not take it for one that was deleted.
  await store.transact((transaction) => insertEnvironment(transaction, "copy", at, {}, id));
  await look();
  const refused = store.transact(async (transaction) => {
    await insertEnvironment(transaction, "never", at);
    throw new Error("refused");
  });
  await assert.rejects(refused, /refused/);
  await look();
  assert.deepEqual(lines, []);
});

test("what is asked for is told, what goes on by itself is not, also when one commit has both", async (t) => {
  const { store, lines } = await openAudited(t);
  const environment = await addEnvironment(store);
  const webhook = await addWebhook(store, environment.id);
  await changeFlag(store, environment.id, createFlag("one"));
  const [event] = await listDeliveries(store, webhook.id, { limit: 1 });
  assert.ok(event);
  lines.length = 0;

  const deliveries = createDeliveries({
    ...{ store, newIds, random, clock: () => new Date() },
    ...{ serviceName: "Halyard", publicUrl: undefined },
  });
  const asked = (requestId: string) =>
    deliveries.replay(
      {
        environment,
        actor: { keyId: "k", name: "ada" },
        requestOrigin: { requestId, address: "::1" },
      },
      webhook.id,
      event.id,
    );
  // As the next part of a replay.
  const continued = (id: string) => {
    const delivery = { id, webhookId: webhook.id, eventId: event.event.id, sequence: 1 };
    return store.transact((transaction) =>
      queueDeliveries(transaction, [{ ...delivery, orderingKey: null }], "replay", new Date()),
    );
  };
  // The first of them opens the transaction that both are part of.
  await Promise.all([continued("dlv_1"), asked("one")]);
  await Promise.all([asked("two"), continued("dlv_2")]);
  assert.deepEqual(
    lines.map(({ audit, reqId }) => [audit, reqId]),
    [
      ["webhook.replayed", "one"],
      ["webhook.replayed", "two"],
    ],
  );
});
