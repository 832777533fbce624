// Sends again what waits for its retry or was given up.
import { sql } from "kysely";
import type { Db, Tx } from "../../../platform/database/db.ts";
import { idList } from "../../../platform/database/schema/id-list.ts";
import { lockQueues } from "./lock-queues.ts";
import { openQueues } from "./queue-queries.ts";

/** What waits for a retry is due now. */
export const makeDue = async ({ database }: Db, webhookId: string, time: number): Promise<void> => {
  await database
    .updateTable("delivery_queues")
    .set({ due_at: time })
    .where("webhook_id", "=", webhookId)
    .where("due_at", ">", time)
    .execute();
};

/**
 * Retries are due now, and the oldest failed deliveries are pending again, after live events as replays are. They keep
 * their attempts, so each gets one more. Returns how many failed ones there were.
 */
export const retryFailed = async (
  tx: Tx,
  webhookId: string,
  limit: number,
  at: Date,
): Promise<number> => {
  const { database, signal } = tx;
  const time = at.getTime();
  signal.changed.add(webhookId);
  await lockQueues(tx, (queue) => queue("webhook_id", "=", webhookId));
  await makeDue(tx, webhookId, time);
  const failed = await database
    .selectFrom("deliveries")
    .innerJoin("events", "events.id", "deliveries.event_id")
    .select(["deliveries.position", "deliveries.id", "events.ordering_key as orderingKey"])
    .where("deliveries.webhook_id", "=", webhookId)
    .where("deliveries.state", "=", sql.lit("failed"))
    .orderBy("deliveries.position")
    .limit(limit)
    .execute();
  if (failed.length === 0) return 0;
  const deliveries = failed.map(({ id, orderingKey }) => ({ id, orderingKey, webhookId }));
  await openQueues(tx, deliveries, 1, time);
  await database
    .updateTable("deliveries")
    .set((delivery) => ({
      state: "pending",
      settled_at: null,
      queue_id: delivery
        .selectFrom("delivery_queues")
        .innerJoin("events", (join) =>
          join.on((on) =>
            on(
              "delivery_queues.ordering_key",
              "=",
              // As queue.ts names the queue of a test.
              sql<string>`coalesce(events.ordering_key, ' ' || deliveries.id)`,
            ),
          ),
        )
        .select("delivery_queues.id")
        .whereRef("events.id", "=", "deliveries.event_id")
        .where("delivery_queues.webhook_id", "=", webhookId)
        .where("delivery_queues.priority", "=", 1),
    }))
    .where("position", "in", idList(failed.map(({ position }) => position)))
    .execute();
  return failed.length;
};
