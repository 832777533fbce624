// Deletes events and deliveries that are older than their retention, and ordering queues that are no longer needed, a little at a time.
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from "kysely";
import type { Db } from "../../../platform/database/db.ts";
import { idList } from "../../../platform/database/schema/id-list.ts";
import type { Tables } from "../../../platform/database/schema/tables.ts";

/** Rows deleted in one transaction: few enough that nothing waits long for it. */
const pruneBatch = 500;
/** Queues checked in one transaction. */
const sweepBatch = 500;

/** The last queue that was checked: queues that are kept are not checked again until the next time through. */
export interface SweptQueues {
  queue: number;
}

/** With their deliveries, and secrets of webhooks that are no longer valid. True when there may be more. */
export const pruneEvents = async (
  { database, dialect }: Db,
  before: number,
  now: number,
): Promise<boolean> => {
  await database
    .updateTable("webhooks")
    .set({ previous_secret: null, previous_until: null })
    .where("previous_until", "<=", now)
    .execute();
  const old = await database
    .selectFrom("events")
    .select("id")
    .where("created_at", "<", before)
    .where(isFinished(before))
    .limit(pruneBatch)
    .$call(dialect.lockedIfFree)
    .execute();
  if (old.length === 0) return false;
  await database
    .deleteFrom("events")
    .where("id", "in", idList(old.map(({ id }) => id)))
    // Checked again: a replay may have begun between the query and the lock.
    .where(isFinished(before))
    .execute();
  return old.length === pruneBatch;
};

/** An event is kept while one of its deliveries is pending or ended recently. Its deliveries are deleted with it. */
const isFinished =
  (before: number) =>
  (event: ExpressionBuilder<Tables, "events">): Expression<SqlBool> =>
    event.not(
      event.exists(
        event
          .selectFrom("deliveries")
          .select("deliveries.id")
          .whereRef("deliveries.event_id", "=", "events.id")
          .where((delivery) =>
            delivery.or([
              delivery("deliveries.state", "=", sql.lit("pending")),
              delivery("deliveries.settled_at", ">=", before),
            ]),
          ),
      ),
    );

/**
 * An idle queue is needed only to be used again, so those of tests, of replays and of flags that are gone are deleted: a
 * delivery that needs one makes it again. True when there may be more.
 */
export const pruneQueues = async (
  { database, dialect }: Db,
  swept: SweptQueues,
  now: number,
): Promise<boolean> => {
  const rows = await database
    .selectFrom("delivery_queues")
    .innerJoin("webhooks", "webhooks.id", "delivery_queues.webhook_id")
    .leftJoin("flags", (join) =>
      join
        .onRef("flags.environment_id", "=", "webhooks.environment_id")
        .onRef("flags.key", "=", "delivery_queues.ordering_key"),
    )
    .select([
      "delivery_queues.id",
      "delivery_queues.due_at",
      "delivery_queues.lease_until",
      "delivery_queues.priority",
      "flags.key",
    ])
    .where("delivery_queues.id", ">", swept.queue)
    .orderBy("delivery_queues.id")
    .limit(sweepBatch)
    .execute();
  swept.queue = rows.length === sweepBatch ? (rows.at(-1)?.id ?? 0) : 0;
  const idle = rows
    .filter(({ due_at, lease_until }) => due_at === null && lease_until <= now)
    .filter(({ key, priority }) => key === null || priority > 0)
    .map(({ id }) => id);
  if (idle.length > 0) {
    const free = await database
      .selectFrom("delivery_queues")
      .select("id")
      .where("id", "in", idList(idle))
      // Read again under the lock: a delivery may have been queued since.
      .where("due_at", "is", null)
      .where("lease_until", "<=", now)
      .$call(dialect.lockedIfFree)
      .execute();
    const ids = free.map(({ id }) => id);
    if (ids.length > 0) {
      await database.deleteFrom("delivery_queues").where("id", "in", idList(ids)).execute();
    }
  }
  return swept.queue > 0;
};
