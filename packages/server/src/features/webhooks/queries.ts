// Webhooks in SQL. A delivery worker may deactivate a webhook at any time, but not while it is locked here.

import type { Db, Tx } from "../../platform/database/db.ts";
import { idList } from "../../platform/database/schema/id-list.ts";
import {
  readWebhooks,
  webhookColumns,
  webhookOf,
} from "../../platform/database/schema/webhook-row.ts";
import type { Webhook } from "../../writes/webhook.ts";
import { lockQueues } from "./deliveries/lock-queues.ts";
import { makeDue } from "./deliveries/retry-queries.ts";

export const listWebhooks = async (
  { database }: Db,
  environmentId: number,
): Promise<readonly Webhook[]> => {
  const rows = await readWebhooks.run(database, { environmentId });
  return rows.map(webhookOf);
};

export const findWebhook = async (
  { database, locked }: Db,
  environmentId: number,
  id: string,
): Promise<Webhook | undefined> => {
  const row = await database
    .selectFrom("webhooks")
    .select(webhookColumns)
    .where("environment_id", "=", environmentId)
    .where("id", "=", id)
    .$call(locked)
    .executeTakeFirst();
  return row && webhookOf(row);
};

export const insertWebhook = async (
  { database, secrets }: Tx,
  environmentId: number,
  webhook: Webhook,
  secret: string,
): Promise<void> => {
  await database
    .insertInto("webhooks")
    .values({
      id: webhook.id,
      environment_id: environmentId,
      url: webhook.url,
      events: JSON.stringify(webhook.events),
      active: webhook.active ? 1 : 0,
      cloud_events: webhook.cloudEvents ? 1 : 0,
      secret: secrets.seal(secret, webhook.id),
      created_at: webhook.createdAt.getTime(),
    })
    .execute();
};

/** With a time: it was activated then, and its pending deliveries are due at once. */
export const updateWebhook = async (
  tx: Tx,
  environmentId: number,
  webhook: Webhook,
  activated: Date | null,
): Promise<void> => {
  const { database, signal } = tx;
  await database
    .updateTable("webhooks")
    .set((row) => ({
      events: JSON.stringify(webhook.events),
      active: webhook.active ? 1 : 0,
      cloud_events: webhook.cloudEvents ? 1 : 0,
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
  signal.changed.add(webhook.id);
  if (!activated) return;
  const time = activated.getTime();
  await lockQueues(tx, (queue) =>
    queue.and([queue("webhook_id", "=", webhook.id), queue("due_at", ">", time)]),
  );
  await makeDue(tx, webhook.id, time);
};

/** The old secret stays valid until the time given; null removes it at once. */
export const updateSecret = async (
  { database, secrets, signal }: Tx,
  webhookId: string,
  secret: string,
  previousUntil: Date | null,
): Promise<void> => {
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
  signal.changed.add(webhookId);
};

export const deleteWebhook = async (
  { database, signal }: Tx,
  environmentId: number,
  id: string,
): Promise<void> => {
  await database.deleteFrom("attempt_counts").where("webhook_id", "=", id).execute();
  await database
    .deleteFrom("webhooks")
    .where("environment_id", "=", environmentId)
    .where("id", "=", id)
    .execute();
  signal.changed.add(id);
};

/** With their attempts; returns how many. */
export const deleteOldestDeliveries = async (
  db: Pick<Db, "database" | "dialect">,
  webhookId: string,
  limit: number,
): Promise<number> => {
  const { database } = db;
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
  await lockQueues(db, (queue) => queue("id", "in", idList(queueIds)));
  // Without its lease no worker records the outcome of a deleted delivery.
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
