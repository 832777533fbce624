// The writes of ports.ts that concern webhooks.

import type { DatabaseTraits } from "../../platform/database/schema/dialect.ts";
import { idList } from "../../platform/database/schema/id-list.ts";
import type { Database } from "../../platform/database/schema/tables.ts";
import type { SecretCipher } from "../../platform/database/secrets/secret-cipher.ts";
import type { Transaction } from "../../platform/database/store.ts";
import { lockQueues } from "./outbox/lock-queues.ts";
import { makeDue, retryFailed } from "./outbox/retry-failed.ts";

type WebhookWrites = Pick<
  Transaction,
  | "insertWebhook"
  | "updateWebhook"
  | "rotateSecret"
  | "deleteWebhook"
  | "deleteDeliveries"
  | "retryFailed"
  | "insertTestEvent"
>;

export const webhookWrites = (
  database: Database,
  traits: DatabaseTraits,
  secrets: SecretCipher,
  changed: Set<string>,
): WebhookWrites => ({
  async insertWebhook(environmentId, webhook, secret) {
    await database
      .insertInto("webhooks")
      .values({
        id: webhook.id,
        environment_id: environmentId,
        url: webhook.url,
        events: JSON.stringify(webhook.events),
        active: webhook.active ? 1 : 0,
        cloud_events: webhook.cloudEvents ? 1 : null,
        secret: secrets.seal(secret, webhook.id),
        created_at: webhook.createdAt.getTime(),
      })
      .execute();
  },

  async updateWebhook(environmentId, webhook, activated) {
    await database
      .updateTable("webhooks")
      .set((row) => ({
        events: JSON.stringify(webhook.events),
        active: webhook.active ? 1 : 0,
        cloud_events: webhook.cloudEvents ? 1 : null,
        failing_since: row
          .case()
          .when("active", "=", webhook.active ? 1 : 0)
          .then(row.ref("failing_since"))
          .else(null)
          .end(),
      }))
      .where("environment_id", "=", environmentId)
      .where("id", "=", webhook.id)
      .execute();
    changed.add(webhook.id);
    if (!activated) return;
    const time = activated.getTime();
    await lockQueues(database, traits, (queue) =>
      queue.and([queue("webhook_id", "=", webhook.id), queue("due_at", ">", time)]),
    );
    await makeDue(database, webhook.id, time);
  },

  async rotateSecret(webhookId, secret, previousUntil) {
    const row = await database
      .selectFrom("webhooks")
      .select("secret")
      .where("id", "=", webhookId)
      .executeTakeFirstOrThrow();
    await database
      .updateTable("webhooks")
      .set({
        secret: secrets.seal(secret, webhookId),
        previous_secret: previousUntil ? row.secret : null,
        previous_until: previousUntil?.getTime() ?? null,
      })
      .where("id", "=", webhookId)
      .execute();
    changed.add(webhookId);
  },

  async deleteWebhook(environmentId, id) {
    await database.deleteFrom("attempt_counts").where("webhook_id", "=", id).execute();
    await database
      .deleteFrom("webhooks")
      .where("environment_id", "=", environmentId)
      .where("id", "=", id)
      .execute();
    changed.add(id);
  },

  deleteDeliveries: (webhookId, limit) =>
    deleteOldestDeliveries(database, traits, webhookId, limit),

  async retryFailed(webhookId, limit, at) {
    changed.add(webhookId);
    return retryFailed(database, traits, webhookId, limit, at.getTime());
  },

  async insertTestEvent(environmentId, event, at) {
    await database
      .insertInto("events")
      .values({
        ...event,
        environment_id: environmentId,
        sequence: null,
        ordering_key: null,
        created_at: at.getTime(),
      })
      .execute();
  },
});

/** With their attempts; returns how many. */
export const deleteOldestDeliveries = async (
  database: Database,
  traits: DatabaseTraits,
  webhookId: string,
  limit: number,
): Promise<number> => {
  const oldest = await database
    .selectFrom("deliveries")
    .select(["position", "queue_id"])
    .where("webhook_id", "=", webhookId)
    .orderBy("position")
    .limit(limit)
    .execute();
  if (oldest.length === 0) return 0;
  const queueIds = [...new Set(oldest.map(({ queue_id }) => queue_id))];
  // A worker that records an outcome has locked its queue first.
  await lockQueues(database, traits, (queue) => queue("id", "in", idList(queueIds)));
  // Without its lease nobody records the outcome of a delivery that is gone.
  await database
    .updateTable("delivery_queues")
    .set({ lease_id: null, lease_until: 0 })
    .where("id", "in", idList(queueIds))
    .execute();
  await database
    .deleteFrom("deliveries")
    .where("position", "in", idList(oldest.map(({ position }) => position)))
    .execute();
  return oldest.length;
};
