// Adds counts of evaluations: every instance writes to one row for each flag and hour. The counts by variant and by rule have a row for
// each name; such a row always has that of its flag and hour.
import type { Counts } from "@halyard/core/result-counts";
import type { Db } from "../../platform/database/db.ts";
import { batchesOf } from "../../platform/database/schema/id-list.ts";
import { allFlags, countKinds, type FlagUsage } from "./counts.ts";

/** Adds to the counts of an hour. An environment or flag that is gone is ignored. */
export const addUsage = async (
  db: Db,
  environmentId: number,
  hour: Date,
  counts: readonly FlagUsage[],
): Promise<void> => {
  // Always in the same order, so that two instances cannot deadlock.
  const sorted = counts.toSorted((a, b) => (a.flagKey < b.flagKey ? -1 : 1));
  for (const part of batchesOf(sorted)) await addPart(db, environmentId, hour, part);
};

const addPart = async (
  { database, dialect }: Db,
  environmentId: number,
  hour: Date,
  counts: readonly FlagUsage[],
): Promise<void> => {
  const flags = await database
    .selectFrom("flags")
    .select("key")
    .where("environment_id", "=", environmentId)
    .where(
      "key",
      "in",
      counts.map(({ flagKey }) => flagKey),
    )
    .$call(dialect.kept)
    .execute();
  const known = new Set([allFlags, ...flags.map(({ key }) => key)]);
  const added = counts.filter(({ flagKey }) => known.has(flagKey));
  const rows = added.map(({ flagKey, on, off, lastAt }) => ({
    environment_id: environmentId,
    flag_key: flagKey,
    hour: hour.getTime(),
    on_count: on,
    off_count: off,
    last_at: lastAt.getTime(),
  }));
  if (rows.length === 0) return;
  await database
    .insertInto("usage")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(["environment_id", "flag_key", "hour"]).doUpdateSet((row) => ({
        on_count: row("usage.on_count", "+", row.ref("excluded.on_count")),
        off_count: row("usage.off_count", "+", row.ref("excluded.off_count")),
        last_at: row
          .case()
          .when("usage.last_at", ">", row.ref("excluded.last_at"))
          .then(row.ref("usage.last_at"))
          .else(row.ref("excluded.last_at"))
          .end(),
      })),
    )
    .execute();
  const results = added.flatMap(({ flagKey, variants, rules }) => [
    ...resultRows(flagKey, countKinds.rules, rules),
    ...resultRows(flagKey, countKinds.variants, variants),
  ]);
  // The rows above are locked, so no other instance has these.
  for (const part of batchesOf(results)) {
    await database
      .insertInto("usage_counts")
      .values(part.map((row) => ({ environment_id: environmentId, hour: hour.getTime(), ...row })))
      .onConflict((conflict) =>
        conflict
          .columns(["environment_id", "flag_key", "hour", "kind", "name"])
          .doUpdateSet((row) => ({
            count: row("usage_counts.count", "+", row.ref("excluded.count")),
          })),
      )
      .execute();
  }
};

const resultRows = (flag_key: string, kind: string, counts: Counts = {}) =>
  Object.entries(counts).map(([name, count]) => ({ flag_key, kind, name, count }));

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
