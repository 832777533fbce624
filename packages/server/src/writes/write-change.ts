// Writes a change: what it leaves, its revision, its history entry and its events.
import type { Flag } from "@halyard/core/flags/registry";
import { toStored } from "@halyard/core/flags/stored";
import { namedSegments } from "@halyard/core/targeting/references";
import { memberLists } from "@halyard/core/targeting/segment";
import type { Dialect } from "../platform/database/schema/dialect.ts";
import { insertEventRow } from "../platform/database/schema/event-row.ts";
import { insertHistory } from "../platform/database/schema/history-row.ts";
import { batchesOf, idList } from "../platform/database/schema/id-list.ts";
import { send } from "../platform/database/schema/kysely-on.ts";
import { prepared, type Value } from "../platform/database/schema/prepared.ts";
import type { Database } from "../platform/database/schema/tables.ts";
import {
  type Change,
  type Decision,
  type EnvironmentState,
  type FlagDecision,
  orderedBy,
  type SegmentDecision,
} from "./change.ts";

const flagColumns = (flag: Flag, version: number, level: number | undefined) => {
  const stored = toStored(flag);
  return { ...stored, enabled: stored.enabled ? 1 : 0, version, level: level ?? null };
};

type FlagColumns = ReturnType<typeof flagColumns>;

const updateFlag = prepared(
  (
    database,
    value: Value<FlagColumns & { readonly environmentId: number; readonly key: string }>,
  ) =>
    database
      .updateTable("flags")
      .set({
        type: value("type"),
        enabled: value("enabled"),
        thousandths: value("thousandths"),
        description: value("description"),
        definition: value("definition"),
        version: value("version"),
        level: value("level"),
      } satisfies Record<keyof FlagColumns, unknown>)
      .where("environment_id", "=", value("environmentId"))
      .where("key", "=", value("key")),
);

const updateEnvironment = prepared((database, value: Value<EnvironmentState>) =>
  database
    .updateTable("environments")
    .set({
      revision: value("revision"),
      sequence: value("sequence"),
      flag_count: value("flagCount"),
      segment_count: value("segmentCount"),
      definition_bytes: value("definitionBytes"),
      definition_work: value("definitionWork"),
      changed_at: value("changedAt"),
      chain: value("chain"),
    })
    .where("id", "=", value("id")),
);

const referencesOf = (environmentId: number, flag: Flag | null) => {
  if (flag === null) return [];
  const row = { environment_id: environmentId, flag_key: flag.key };
  const segments = [...new Set(namedSegments(flag).map(({ key }) => key))];
  return [
    ...segments.map((key) => ({ ...row, kind: "segment", key, variant: null })),
    ...(flag.requires ?? []).map(({ flag: key, variant }) => ({
      ...row,
      kind: "flag",
      key,
      variant,
    })),
  ];
};

const writeReferences = async (
  database: Database,
  environmentId: number,
  { key, before, after }: FlagDecision,
): Promise<void> => {
  const [old, rows] = [referencesOf(environmentId, before), referencesOf(environmentId, after)];
  if (JSON.stringify(old) === JSON.stringify(rows)) return;
  await send(
    database,
    database
      .deleteFrom("flag_references")
      .where("environment_id", "=", environmentId)
      .where("flag_key", "=", key),
  );
  for (const part of batchesOf(rows)) {
    await send(database, database.insertInto("flag_references").values(part));
  }
};

const writeFlag = async (
  database: Database,
  environmentId: number,
  decision: FlagDecision,
): Promise<void> => {
  const { key, before, after, version, level } = decision;
  if (after === null) {
    for (const table of ["usage", "usage_counts"] as const) {
      await send(
        database,
        database
          .deleteFrom(table)
          .where("environment_id", "=", environmentId)
          .where("flag_key", "=", key),
      );
    }
    await send(
      database,
      database
        .deleteFrom("flags")
        .where("environment_id", "=", environmentId)
        .where("key", "=", key),
    );
  } else if (before !== null) {
    const columns = flagColumns(after, version, level);
    await updateFlag.send(database, { environmentId, key, ...columns });
  } else {
    await send(
      database,
      database
        .insertInto("flags")
        .values({ environment_id: environmentId, key, ...flagColumns(after, version, level) }),
    );
  }
  await writeReferences(database, environmentId, decision);
};

const writeSegment = async (
  database: Database,
  environmentId: number,
  { key, before, after, version }: SegmentDecision,
): Promise<void> => {
  if (after === null) {
    await send(
      database,
      database
        .deleteFrom("segment_members")
        .where("environment_id", "=", environmentId)
        .where("segment_key", "=", key),
    );
    await send(
      database,
      database
        .deleteFrom("segments")
        .where("environment_id", "=", environmentId)
        .where("key", "=", key),
    );
    return;
  }
  const row = {
    description: after.description,
    condition: after.when && JSON.stringify(after.when),
    include_count: after.counts.include,
    exclude_count: after.counts.exclude,
    version,
  };
  if (before === null) {
    await send(
      database,
      database.insertInto("segments").values({ environment_id: environmentId, key, ...row }),
    );
  } else {
    await send(
      database,
      database
        .updateTable("segments")
        .set(row)
        .where("environment_id", "=", environmentId)
        .where("key", "=", key),
    );
  }
  const of = { environment_id: environmentId, segment_key: key };
  for (const list of memberLists) {
    const removed = after[list]?.removed ?? [];
    if (
      removed.length > 0 &&
      before &&
      "counts" in before &&
      removed.length === before.counts[list]
    ) {
      // All of them, however many, in one statement.
      await send(
        database,
        database
          .deleteFrom("segment_members")
          .where("environment_id", "=", environmentId)
          .where("segment_key", "=", key)
          .where("list", "=", list),
      );
    } else {
      for (const members of batchesOf(removed)) {
        await send(
          database,
          database
            .deleteFrom("segment_members")
            .where("environment_id", "=", environmentId)
            .where("segment_key", "=", key)
            .where("list", "=", list)
            .where("member", "in", idList(members)),
        );
      }
    }
    for (const members of batchesOf(after[list]?.added ?? [])) {
      await send(
        database,
        database
          .insertInto("segment_members")
          .values(members.map((member) => ({ ...of, list, member }))),
      );
    }
  }
};

const writeDecision = (
  database: Database,
  environmentId: number,
  decision: Decision,
): Promise<void> => {
  switch (decision.kind) {
    case "flag":
      return writeFlag(database, environmentId, decision);
    case "segment":
      return writeSegment(database, environmentId, decision);
  }
};

export const writeChange = async (
  database: Database,
  dialect: Dialect,
  { state, at, events, entry, decision }: Change,
): Promise<void> => {
  const { id: environmentId } = state;
  await writeDecision(database, environmentId, decision);
  await updateEnvironment.send(database, state);
  await insertHistory.send(database, { environmentId, ...entry });
  for (const event of events) {
    await insertEventRow.send(database, {
      ...event,
      environmentId,
      orderingKey: orderedBy(decision),
      createdAt: at.getTime(),
    });
  }
  await dialect.notifyOthers(database);
};
