// The audit log directly on a store: what takes rare moments over HTTP.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { type TestContext, test } from "node:test";
import type { Requester } from "../src/platform/auth/principal.ts";
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
  const look = async () => replica.beginLook()(await store.positions());
  return { store, lines, look };
};

test("an unfinished copy, and one that was never made, are not told as deleted", async (t) => {
  const { store, lines, look } = await openAudited(t);
  const at = new Date();
  const { id } = await store.transact((transaction) => transaction.insertEnvironment("one", at));
  await look();
  // A copy of an environment is hidden until it is finished: the audit log must not take it for one that was deleted.
  await store.transact((transaction) => transaction.insertEnvironment("copy", at, {}, id));
  await look();
  const refused = store.transact(async (transaction) => {
    await transaction.insertEnvironment("never", at);
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
  const [event] = await store.deliveries(webhook.id, { limit: 1 });
  assert.ok(event);
  lines.length = 0;

  let deliveries = 0;
  const queue = (kind: "test" | "replay", requester?: Requester) => {
    deliveries += 1;
    const id = `dlv_${deliveries}`;
    const delivery = { id, webhookId: webhook.id, eventId: event.event.id, sequence: 1 };
    return store.transact(
      (transaction) => transaction.queue([{ ...delivery, orderingKey: null }], kind, new Date()),
      requester ? { requester } : {},
    );
  };
  const asked = (requestId: string) =>
    queue("test", {
      actor: { keyId: "k", name: "ada" },
      requestOrigin: { requestId, address: "::1" },
    });
  // The first of them opens the transaction that both are part of.
  await Promise.all([queue("replay"), asked("one")]);
  await Promise.all([asked("two"), queue("replay")]);
  assert.deepEqual(
    lines.map(({ audit, reqId }) => [audit, reqId]),
    [
      ["webhook.tested", "one"],
      ["webhook.tested", "two"],
    ],
  );
});
