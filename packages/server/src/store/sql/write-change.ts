// Writes a change: what it leaves, its revision, its history entry and its events.
import type { Flag } from "@halyard/core/flags/registry";
import { toStored } from "@halyard/core/flags/stored";
import { namedSegments } from "@halyard/core/targeting/references";
import { memberLists } from "@halyard/core/targeting/segment";
import type { CompiledQuery } from "kysely";
import {
  type Change,
  type ChangeEvent,
  type Decision,
  type EnvironmentState,
  type FlagDecision,
  orderedBy,
  type SegmentDecision,
} from "../../domain/change.ts";
import type { DatabaseTraits } from "../schema/dialect.ts";
import { insertHistory } from "../schema/history-row.ts";
import { batchesOf, idList } from "../schema/id-list.ts";
import { prepared } from "../schema/prepared.ts";
import type { Database } from "../schema/tables.ts";

const flagColumns = (flag: Flag, version: number, level: number | undefined) => {
  const stored = toStored(flag);
  return { ...stored, enabled: stored.enabled ? 1 : 0, version, level: level ?? null };
};

const updateFlag = prepared(
  (
    database,
    values: ReturnType<typeof flagColumns> & {
      readonly environmentId: number;
      readonly key: string;
    },
  ) =>
    database
      .updateTable("flags")
      .set({
        type: values.type,
        enabled: values.enabled,
        thousandths: values.thousandths,
        description: values.description,
        definition: values.definition,
        version: values.version,
        level: values.level,
      })
      .where("environment_id", "=", values.environmentId)
      .where("key", "=", values.key),
);

const updateEnvironment = prepared((database, state: EnvironmentState) =>
  database
    .updateTable("environments")
    .set({
      revision: state.revision,
      sequence: state.sequence,
      flag_count: state.flagCount,
      segment_count: state.segmentCount,
      definition_bytes: state.definitionBytes,
      changed_at: state.changedAt,
      chain: state.chain,
    })
    .where("id", "=", state.id),
);

interface EventRow extends ChangeEvent {
  readonly environmentId: number;
  readonly orderedBy: string;
  readonly createdAt: number;
}

const insertEvent = prepared((database, event: EventRow) =>
  database.insertInto("events").values({
    environment_id: event.environmentId,
    sequence: event.sequence,
    id: event.id,
    type: event.type,
    flag_key: event.orderedBy,
    created_at: event.createdAt,
    body: event.body,
  }),
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
  await database
    .deleteFrom("flag_references")
    .where("environment_id", "=", environmentId)
    .where("flag_key", "=", key)
    .execute();
  for (const part of batchesOf(rows)) {
    await database.insertInto("flag_references").values(part).execute();
  }
};

/** Returns what can be written together with the rest. */
const writeFlag = async (
  database: Database,
  environmentId: number,
  decision: FlagDecision,
): Promise<readonly CompiledQuery[]> => {
  const { key, before, after, version, level } = decision;
  if (before !== null && after !== null) {
    await writeReferences(database, environmentId, decision);
    const columns = flagColumns(after, version, level);
    return [updateFlag.fill(database, { environmentId, key, ...columns })];
  }
  if (after === null) {
    for (const table of ["usage", "usage_counts"] as const) {
      await database
        .deleteFrom(table)
        .where("environment_id", "=", environmentId)
        .where("flag_key", "=", key)
        .execute();
    }
    await database
      .deleteFrom("flags")
      .where("environment_id", "=", environmentId)
      .where("key", "=", key)
      .execute();
  } else {
    await database
      .insertInto("flags")
      .values({ environment_id: environmentId, key, ...flagColumns(after, version, level) })
      .execute();
  }
  await writeReferences(database, environmentId, decision);
  return [];
};

const writeSegment = async (
  database: Database,
  environmentId: number,
  { key, before, after, version }: SegmentDecision,
): Promise<readonly []> => {
  if (after === null) {
    await database
      .deleteFrom("segment_members")
      .where("environment_id", "=", environmentId)
      .where("segment_key", "=", key)
      .execute();
    await database
      .deleteFrom("segments")
      .where("environment_id", "=", environmentId)
      .where("key", "=", key)
      .execute();
    return [];
  }
  const row = {
    description: after.description,
    condition: after.when && JSON.stringify(after.when),
    include_count: after.counts.include,
    exclude_count: after.counts.exclude,
    version,
  };
  if (before === null) {
    await database
      .insertInto("segments")
      .values({ environment_id: environmentId, key, ...row })
      .execute();
  } else {
    await database
      .updateTable("segments")
      .set(row)
      .where("environment_id", "=", environmentId)
      .where("key", "=", key)
      .execute();
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
      await database
        .deleteFrom("segment_members")
        .where("environment_id", "=", environmentId)
        .where("segment_key", "=", key)
        .where("list", "=", list)
        .execute();
    } else {
      for (const members of batchesOf(removed)) {
        await database
          .deleteFrom("segment_members")
          .where("environment_id", "=", environmentId)
          .where("segment_key", "=", key)
          .where("list", "=", list)
          .where("member", "in", idList(members))
          .execute();
      }
    }
    for (const members of batchesOf(after[list]?.added ?? [])) {
      await database
        .insertInto("segment_members")
        .values(members.map((member) => ({ ...of, list, member })))
        .execute();
    }
  }
  return [];
};

const writeDecision = (
  database: Database,
  environmentId: number,
  decision: Decision,
): Promise<readonly CompiledQuery[]> => {
  switch (decision.kind) {
    case "flag":
      return writeFlag(database, environmentId, decision);
    case "segment":
      return writeSegment(database, environmentId, decision);
  }
};

export const writeChange = async (
  database: Database,
  traits: DatabaseTraits,
  { state, at, events, entry, decision }: Change,
): Promise<void> => {
  const { id: environmentId } = state;
  await traits.writeTogether(database, [
    ...(await writeDecision(database, environmentId, decision)),
    updateEnvironment.fill(database, state),
    insertHistory.fill(database, { environmentId, ...entry }),
    ...events.map((event) =>
      insertEvent.fill(database, {
        ...event,
        environmentId,
        orderedBy: orderedBy(decision),
        createdAt: at.getTime(),
      }),
    ),
  ]);
};
