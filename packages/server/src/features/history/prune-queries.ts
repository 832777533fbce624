// Goes through history from the first entry to the last, a little at a time, and deletes old entries.
import { kindNames } from "@halyard/core/kinds";
import { sql } from "kysely";
import type { Db } from "../../platform/database/db.ts";
import { deleteEntries } from "./delete-entries.ts";

/** The last entry that was checked: entries that are kept are not checked again until the next time through. */
export interface SweptHistory {
  entry: number;
}

/** Entries checked in one transaction. */
const sweepBatch = 500;

/**
 * Deletes old history, but never the last entry of a flag: it holds the version from which a later flag of the same key
 * goes on, and the time of the environment's revision. Nor the last revision before the time: what was there from that time
 * on can still be told. A follower that lacks a deleted revision reads everything anew.
 */
export const pruneHistory = async (
  db: Db,
  swept: SweptHistory,
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
