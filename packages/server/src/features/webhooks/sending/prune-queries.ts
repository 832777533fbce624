// Goes through ordering queues and history from the first to the last, a little at a time, and deletes what is not needed.
import { kindNames } from "@halyard/core/kinds";
import { sql } from "kysely";
import type { Db } from "../../../platform/database/db.ts";
import { idList } from "../../../platform/database/schema/id-list.ts";
import { deleteEntries } from "../../history/delete-entries.ts";

/** How far it has come: what is kept is not looked at again until the next time through. */
export interface Swept {
  queue: number;
  entry: number;
}

/** Rows looked at in one transaction. */
const sweepBatch = 500;

/**
 * An idle queue is needed only to be used again, so those of tests, of replays and of flags that are gone are deleted: a
 * delivery that needs one makes it again. True when there may be more.
 */
export const pruneQueues = async (
  { database, traits }: Db,
  swept: Swept,
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
      .$call(traits.lockedIfFree)
      .execute();
    const ids = free.map(({ id }) => id);
    if (ids.length > 0) {
      await database.deleteFrom("delivery_queues").where("id", "in", idList(ids)).execute();
    }
  }
  return swept.queue > 0;
};

/**
 * Deletes old history, but never the last entry of a flag: it holds the version from which a later flag of the same key
 * goes on, and the time of the environment's revision. Nor the last revision before the time: what was there from that time
 * on can still be told. A follower that lacks a deleted revision reads everything anew.
 */
export const pruneHistory = async (
  db: Db,
  swept: Swept,
  { historyBefore: before, now }: { readonly historyBefore: number; readonly now: number },
): Promise<boolean> => {
  const rows = await db.database
    .selectFrom("history as entry")
    .select((entry) => [
      "entry.id",
      "entry.environment_id",
      "entry.at",
      "entry.subject",
      entry
        .selectFrom("history as later")
        .select("later.id")
        .whereRef("later.environment_id", "=", "entry.environment_id")
        .whereRef("later.subject", "=", "entry.subject")
        .whereRef("later.subject_id", "=", "entry.subject_id")
        .whereRef("later.id", ">", "entry.id")
        .orderBy("later.id")
        .limit(1)
        .as("later"),
      entry
        .selectFrom("history as next")
        .select("next.at")
        .whereRef("next.environment_id", "=", "entry.environment_id")
        .where("next.revision", "=", sql<number>`entry.revision + 1`)
        .as("nextAt"),
    ])
    .where("entry.id", ">", swept.entry)
    .orderBy("entry.id")
    .limit(sweepBatch)
    .execute();
  const old = rows.filter(({ at }) => at < before);
  const isThrough = rows.length < sweepBatch || old.length === 0;
  const isKind = (subject: string) => kindNames.some((kind) => kind === subject);
  const deletable = old
    .filter(({ later, subject }) => later !== null || !isKind(subject))
    .filter(({ nextAt }) => nextAt === null || nextAt < before);
  const ids = Map.groupBy(deletable, ({ environment_id }) => environment_id);
  if (ids.size > 0) {
    const environments = await db.database
      .selectFrom("environments")
      .select(["id", "name"])
      .where("id", "in", [...ids.keys()])
      .orderBy("name")
      .$call(db.locked)
      .execute();
    for (const environment of environments) {
      const own = (ids.get(environment.id) ?? []).map(({ id }) => id);
      await deleteEntries(db, environment, own, now);
    }
  }
  swept.entry = isThrough ? 0 : (rows.at(-1)?.id ?? 0);
  return !isThrough;
};
