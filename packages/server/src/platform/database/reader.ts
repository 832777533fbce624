// The reads of ports.ts in SQL, outside a transaction or inside one.
import { fromStored } from "@halyard/core/flags/stored";
import type { Selectable } from "kysely";
import type { EnvironmentContent, SegmentReads } from "../../evaluation/content.ts";
import { followReads } from "../../evaluation/queries.ts";
import {
  caughtUp,
  referenceReads,
  segmentReads,
  wholeSegments,
} from "../../features/segments/queries.ts";
import type { VersionedFlag } from "../../writes/change.ts";
import type { ReferenceReads } from "../../writes/references.ts";
import { batchesOf, idList } from "./schema/id-list.ts";
import { prepared, type Value } from "./schema/prepared.ts";
import type { Database, Tables } from "./schema/tables.ts";
import type { Reader } from "./store.ts";

type FlagRow = Omit<Selectable<Tables["flags"]>, "environment_id">;

const flagOf = (row: FlagRow): VersionedFlag => ({
  flag: fromStored(row.key, { ...row, enabled: row.enabled === 1 }),
  version: row.version,
  ...(row.level !== null && { level: row.level }),
});

/** Columns by name: a prepared statement stays correct when a newer version adds a column. */
const flagColumns = [
  "key",
  "type",
  "enabled",
  "thousandths",
  "description",
  "version",
  "definition",
  "level",
] as const;
const readFlag = prepared((database, value: Value<{ environmentId: number; key: string }>) =>
  database
    .selectFrom("flags")
    .select(flagColumns)
    .where("environment_id", "=", value("environmentId"))
    .where("key", "=", value("key")),
);

export const readsToChange = (
  database: Database,
): Pick<Reader, keyof ReferenceReads | keyof SegmentReads | "flag"> => {
  const flagsAmong = async (environmentId: number, keys: readonly string[]) => {
    const found: VersionedFlag[] = [];
    for (const part of batchesOf(keys)) {
      const rows = await database
        .selectFrom("flags")
        .select(flagColumns)
        .where("environment_id", "=", environmentId)
        .where("key", "in", idList(part))
        .orderBy("key")
        .execute();
      found.push(...rows.map(flagOf));
    }
    return found;
  };

  return {
    ...segmentReads(database),
    ...referenceReads(database, flagsAmong),

    async flag(environmentId, key) {
      const [row] = await readFlag.run(database, { environmentId, key });
      return row && flagOf(row);
    },
  };
};

export const createReader = (database: Database): Reader => ({
  ...readsToChange(database),
  ...followReads(database),

  async content(environmentId) {
    // The flags are of the same moment as the segments or of a later one: then the changes in between are made up for.
    const before = await wholeSegments(database, environmentId);
    const flags = await readFlags(database, environmentId);
    const segments = await caughtUp(database, environmentId, before, flags.revision);
    return { ...flags, segments };
  },
});

const readFlags = async (
  database: Database,
  environmentId: number,
): Promise<Omit<EnvironmentContent, "segments">> => {
  // One statement, so that the revision and the flags are of the same moment.
  const rows = await database
    .selectFrom("environments")
    .leftJoin("flags", "flags.environment_id", "environments.id")
    .leftJoin("history", (join) =>
      join
        .onRef("history.environment_id", "=", "environments.id")
        .onRef("history.revision", "=", "environments.revision"),
    )
    .select([
      "environments.revision",
      "history.at",
      ...flagColumns.map((column) => `flags.${column}` as const),
    ])
    .where("environments.id", "=", environmentId)
    .execute();
  const flags = rows
    .filter((row): row is typeof row & FlagRow => row.key !== null)
    .map(flagOf)
    // Keys are ASCII, and the order is the same on every database.
    .sort((a, b) => (a.flag.key < b.flag.key ? -1 : 1));
  const [first] = rows;
  const changedAt = first?.at == null ? null : new Date(first.at);
  return { revision: first?.revision ?? 0, changedAt, flags };
};
