// The counts of evaluations, and when keys were used: added to by every instance, one row for each flag and hour. The counts by variant
// and by rule have a row for each name; such a row never stands without that of its flag and hour.
import type { Counts, ResultCounts } from "@halyard/core/result-counts";
import type { ExpressionBuilder } from "kysely";
import { allFlags, type FlagUsage } from "../../evaluation/usage/counts.ts";
import type { DatabaseTraits } from "../../platform/database/schema/dialect.ts";
import { actorOf } from "../../platform/database/schema/history-row.ts";
import { batchesOf } from "../../platform/database/schema/id-list.ts";
import type { Database, Tables, Transact } from "../../platform/database/schema/tables.ts";
import { dateOf } from "../../platform/database/schema/times.ts";
import type { Reader, Store } from "../../platform/database/store.ts";

/** The entry that the last change of a flag has made. */
const lastEntry = (flag: ExpressionBuilder<Tables, "flags">) =>
  flag
    .selectFrom("history")
    .whereRef("history.environment_id", "=", "flags.environment_id")
    .where("history.subject", "=", "flag")
    .whereRef("history.subject_id", "=", "flags.key")
    .orderBy("history.id", "desc")
    .limit(1);

/** The column `kind`, by the member that its rows stand in. */
const kinds = { variants: "variant", rules: "rule" } as const;

interface CountRow {
  readonly kind: string;
  readonly name: string;
  readonly count: number | string | bigint | null;
}

/** By flag or by hour, whichever `groupOf` tells of a row. */
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
    const member = row.kind === kinds.rules ? "rules" : "variants";
    group[member] ??= {};
    group[member][row.name] = Number(row.count);
  }
  return groups;
};

const resultsSince = (database: Database, environmentId: number, since: Date) =>
  database
    .selectFrom("usage_counts")
    .where("environment_id", "=", environmentId)
    .where("hour", ">=", since.getTime())
    // Variants first.
    .orderBy("kind", "desc")
    .orderBy("name");

export const usageReads = (database: Database): Pick<Reader, "usage" | "usageHours"> => ({
  async usage(environmentId, since, flagKey) {
    const rows = await database
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
    const results = await resultsSince(database, environmentId, since)
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
  },

  async usageHours(environmentId, flagKey, since) {
    const rows = await database
      .selectFrom("usage")
      .select(["hour", "on_count", "off_count", "last_at"])
      .where("environment_id", "=", environmentId)
      .where("flag_key", "=", flagKey)
      .where("hour", ">=", since.getTime())
      .orderBy("hour")
      .execute();
    const results = await resultsSince(database, environmentId, since)
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
  },
});

export const createAddUsage =
  (traits: DatabaseTraits, transact: Transact): Store["addUsage"] =>
  (environmentId, hour, counts) =>
    transact(async (database) => {
      // Always in the same order, so that two instances cannot deadlock.
      const sorted = counts.toSorted((a, b) => (a.flagKey < b.flagKey ? -1 : 1));
      for (const part of batchesOf(sorted)) await add(database, traits, environmentId, hour, part);
    });

const add = async (
  database: Database,
  traits: DatabaseTraits,
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
    .$call(traits.kept)
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
    ...resultRows(flagKey, kinds.rules, rules),
    ...resultRows(flagKey, kinds.variants, variants),
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

/** Keys are sorted, so that two instances cannot deadlock. */
export const writeKeyUse = async (
  database: Database,
  keyIds: readonly string[],
  at: Date,
): Promise<void> => {
  for (const id of keyIds.toSorted()) {
    await database
      .updateTable("api_keys")
      .set({ last_used_at: at.getTime() })
      .where("id", "=", id)
      .execute();
  }
};
