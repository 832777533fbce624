// Reads the counts of evaluations, and stores when keys were used.
import type { ResultCounts } from "@halyard/core/result-counts";
import type { ExpressionBuilder } from "kysely";
import { type CountedFlag, countKinds, type UsageHour } from "../../evaluation/usage/counts.ts";
import type { Db } from "../../platform/database/db.ts";
import { actorOf } from "../../platform/database/schema/history-row.ts";
import type { Tables } from "../../platform/database/schema/tables.ts";
import { dateOf } from "../../platform/database/schema/times.ts";

/** The entry that the last change of a flag has made. */
const lastEntry = (flag: ExpressionBuilder<Tables, "flags">) =>
  flag
    .selectFrom("history")
    .whereRef("history.environment_id", "=", "flags.environment_id")
    .where("history.subject", "=", "flag")
    .whereRef("history.subject_id", "=", "flags.key")
    .orderBy("history.id", "desc")
    .limit(1);

interface CountRow {
  readonly kind: string;
  readonly name: string;
  readonly count: number | string | bigint | null;
}

/** Grouped by flag or by hour, as `groupOf` says. */
const groupResults = <Row extends CountRow, Group>(
  rows: readonly Row[],
  groupOf: (row: Row) => Group,
): ReadonlyMap<Group, ResultCounts> => {
  const groups = new Map<
    Group,
    { -readonly [Member in keyof ResultCounts]: Record<string, number> }
  >();
  for (const row of rows) {
    const group = groups.get(groupOf(row)) ?? {};
    groups.set(groupOf(row), group);
    const member = row.kind === countKinds.rules ? "rules" : "variants";
    group[member] ??= {};
    group[member][row.name] = Number(row.count);
  }
  return groups;
};

const resultsSince = ({ database }: Db, environmentId: number, since: Date) =>
  database
    .selectFrom("usage_counts")
    .where("environment_id", "=", environmentId)
    .where("hour", ">=", since.getTime())
    // Variants first.
    .orderBy("kind", "desc")
    .orderBy("name");

/** The counts of every flag since a time, sorted by key; of one flag when its key is given. */
export const listUsage = async (
  db: Db,
  environmentId: number,
  since: Date,
  flagKey?: string,
): Promise<readonly CountedFlag[]> => {
  const rows = await db.database
    .with("counts", (query) =>
      query
        .selectFrom("usage")
        .select(({ fn }) => [
          "flag_key",
          fn.sum("on_count").as("on_count"),
          fn.sum("off_count").as("off_count"),
        ])
        .where("environment_id", "=", environmentId)
        .where("hour", ">=", since.getTime())
        .$if(flagKey !== undefined, (rest) => rest.where("flag_key", "=", flagKey ?? ""))
        .groupBy("flag_key"),
    )
    .selectFrom("flags")
    .leftJoin("counts", "counts.flag_key", "flags.key")
    .leftJoin("history as change", (join) =>
      join.on((flag) => flag("change.id", "=", lastEntry(flag).select("history.id"))),
    )
    .select((flag) => [
      "flags.key",
      "counts.on_count",
      "counts.off_count",
      // From the latest hour of each flag: one index lookup, however many hours there are.
      flag
        .selectFrom("usage")
        .select("usage.last_at")
        .whereRef("usage.environment_id", "=", "flags.environment_id")
        .whereRef("usage.flag_key", "=", "flags.key")
        .orderBy("usage.hour", "desc")
        .limit(1)
        .as("last_at"),
      lastEntry(flag).select("history.at").where("history.before", "is", null).as("created_at"),
      "change.at as changed_at",
      "change.actor_key_id",
      "change.actor_name",
      "change.actor_user_id",
      "change.actor_user_name",
    ])
    .where("flags.environment_id", "=", environmentId)
    .$if(flagKey !== undefined, (rest) => rest.where("flags.key", "=", flagKey ?? ""))
    .orderBy("flags.key")
    .execute();
  const results = await resultsSince(db, environmentId, since)
    .select(({ fn }) => ["flag_key", "kind", "name", fn.sum("count").as("count")])
    .$if(flagKey !== undefined, (rest) => rest.where("flag_key", "=", flagKey ?? ""))
    .groupBy(["flag_key", "kind", "name"])
    .execute();
  const byFlag = groupResults(results, (row) => row.flag_key);
  return rows.map((row) => ({
    ...byFlag.get(row.key),
    flagKey: row.key,
    on: Number(row.on_count ?? 0),
    off: Number(row.off_count ?? 0),
    lastAt: dateOf(row.last_at),
    createdAt: dateOf(row.created_at),
    lastChange:
      row.changed_at === null || row.actor_name === null
        ? null
        : {
            at: new Date(row.changed_at),
            actor: actorOf({ ...row, actor_name: row.actor_name }),
          },
  }));
};

/** The hours of one flag, or of `allFlags`, since a time, oldest first; hours without evaluations are left out. */
export const listUsageHours = async (
  db: Db,
  environmentId: number,
  flagKey: string,
  since: Date,
): Promise<readonly UsageHour[]> => {
  const rows = await db.database
    .selectFrom("usage")
    .select(["hour", "on_count", "off_count", "last_at"])
    .where("environment_id", "=", environmentId)
    .where("flag_key", "=", flagKey)
    .where("hour", ">=", since.getTime())
    .orderBy("hour")
    .execute();
  const results = await resultsSince(db, environmentId, since)
    .select(["hour", "kind", "name", "count"])
    .where("flag_key", "=", flagKey)
    .execute();
  const byHour = groupResults(results, (row) => row.hour);
  return rows.map((row) => ({
    ...byHour.get(row.hour),
    hour: new Date(row.hour),
    on: row.on_count,
    off: row.off_count,
    lastAt: new Date(row.last_at),
  }));
};
