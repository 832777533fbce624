// Deletes what is older than its retention, a small batch at a time.
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from "kysely";
import type { Db } from "../../../platform/database/db.ts";
import { idList } from "../../../platform/database/schema/id-list.ts";
import type { Tables } from "../../../platform/database/schema/tables.ts";

/** Rows deleted in one transaction: few enough that nothing waits long for it. */
const pruneBatch = 500;

/** Deletes the oldest hour of each environment when it is older than `before`; true when there may be more. */
export const pruneUsage = async ({ database }: Db, before: number): Promise<boolean> => {
  const oldest = await database
    .selectFrom("environments")
    .select((environment) => [
      "environments.id",
      environment
        .selectFrom("usage")
        .select(({ fn }) => fn.min("usage.hour").as("hour"))
        .whereRef("usage.environment_id", "=", "environments.id")
        .as("hour"),
    ])
    .execute();
  let deleted = false;
  for (const { id, hour } of oldest) {
    if (hour === null || hour >= before) continue;
    for (const table of ["usage", "usage_counts"] as const) {
      await database
        .deleteFrom(table)
        .where("environment_id", "=", id)
        .where("hour", "=", hour)
        .execute();
    }
    deleted = true;
  }
  return deleted;
};

/** Deletes the failed evaluations of one environment that are older than `before`; true when there may be more. */
export const pruneEvaluationErrors = async (
  { database, traits }: Db,
  before: number,
): Promise<boolean> => {
  const oldest = await database
    .selectFrom("evaluation_errors")
    .select("environment_id")
    .where("last_at", "<", before)
    .orderBy("last_at")
    .limit(1)
    .executeTakeFirst();
  if (!oldest) return false;
  // As the writers of these rows do, so that this can't deadlock with them.
  await database
    .selectFrom("environments")
    .select("id")
    .where("id", "=", oldest.environment_id)
    .$call(traits.locked)
    .execute();
  await database
    .deleteFrom("evaluation_errors")
    .where("environment_id", "=", oldest.environment_id)
    .where("last_at", "<", before)
    .execute();
  return true;
};

export const pruneEvents = async (
  { database, traits }: Db,
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
    .$call(traits.lockedIfFree)
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

/** Change requests that are over are kept as long as history; their discussion is deleted with them. */
export const pruneRequests = async ({ database }: Db, before: number): Promise<boolean> => {
  const old = await database
    .selectFrom("change_requests")
    .select("id")
    .where("updated_at", "<", before)
    .where("state", "not in", ["open", "approved"])
    .limit(pruneBatch)
    .execute();
  if (old.length === 0) return false;
  await database
    .deleteFrom("change_requests")
    .where("id", "in", idList(old.map(({ id }) => id)))
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
