// Segments and their members, and what flags name outside themselves.
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import {
  applyToState,
  type MemberList,
  type SegmentChange,
  segmentOf,
  stateOf,
} from "@halyard/core/targeting/segment";
import { type Selectable, sql } from "kysely";
import type { SegmentReads, WholeSegment } from "../../evaluation/content.ts";
import { batchesOf, idList } from "../../platform/database/schema/id-list.ts";
import type { Database, Tables } from "../../platform/database/schema/tables.ts";
import type { VersionedFlag, VersionedSegment } from "../../writes/change.ts";
import type { ReferenceReads } from "../../writes/references.ts";

const columns = [
  "key",
  "description",
  "condition",
  "include_count",
  "exclude_count",
  "version",
] as const;
type SegmentRow = Pick<Selectable<Tables["segments"]>, (typeof columns)[number]>;

const baseOf = ({
  key,
  description,
  condition,
}: Pick<SegmentRow, "key" | "description" | "condition">) => ({
  key,
  description,
  when: condition === null ? null : (JSON.parse(condition) as Condition),
});

const summaryOf = (row: SegmentRow): VersionedSegment => ({
  segment: {
    ...baseOf(row),
    counts: { include: row.include_count, exclude: row.exclude_count },
  },
  version: row.version,
});

/** Rows of segments and rows of members, in one statement: of one moment. Rows of members have a list. */
const wholeRows = (database: Database, environmentId: number, key?: string) =>
  database
    .selectFrom("environments")
    .leftJoin("segments", (join) => {
      const own = join.onRef("segments.environment_id", "=", "environments.id");
      return key === undefined ? own : own.on("segments.key", "=", key);
    })
    .select(["segments.key", "segments.description", "segments.condition"])
    .select(["segments.version", "environments.revision"])
    .select([sql<string | null>`null`.as("list"), sql<string | null>`null`.as("member")])
    .where("environments.id", "=", environmentId)
    .unionAll(
      database
        .selectFrom("segment_members")
        .select(["segment_key as key", sql<string | null>`null`.as("description")])
        .select([sql<string | null>`null`.as("condition"), sql<number>`0`.as("version")])
        .select([sql<number>`0`.as("revision"), "list", "member"])
        .where("environment_id", "=", environmentId)
        .$if(key !== undefined, (query) => query.where("segment_key", "=", key ?? "")),
    )
    .execute();
type WholeRow = Awaited<ReturnType<typeof wholeRows>>[number];

const byText = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

const wholesOf = (rows: readonly WholeRow[]): readonly WholeSegment[] => {
  const lists = new Map<string | null, Record<MemberList, string[]>>();
  for (const { key, list, member } of rows) {
    const known = lists.get(key) ?? { include: [], exclude: [] };
    lists.set(key, known);
    if (list !== null && member !== null) known[list as MemberList].push(member);
  }
  return rows
    .filter(({ key, list }) => key !== null && list === null)
    .map((row) => {
      const { key, description, when } = baseOf({ ...row, key: row.key ?? "" });
      const { include = [], exclude = [] } = lists.get(key) ?? {};
      const segment = {
        key,
        description,
        include: include.sort(byText),
        exclude: exclude.sort(byText),
        when,
      };
      return { segment, version: row.version ?? 0 };
    })
    .sort((a, b) => byText(a.segment.key, b.segment.key));
};

const segmentRows = (database: Database, environmentId: number) =>
  database.selectFrom("segments").select(columns).where("environment_id", "=", environmentId);

const memberRows = (database: Database, environmentId: number) =>
  database.selectFrom("segment_members").where("environment_id", "=", environmentId);

/** Every segment with its members, and the revision that they are of. */
export const wholeSegments = async (
  database: Database,
  environmentId: number,
): Promise<{ readonly revision: number; readonly segments: readonly WholeSegment[] }> => {
  const rows = await wholeRows(database, environmentId);
  const [first] = rows.filter(({ list }) => list === null);
  return { revision: first?.revision ?? 0, segments: wholesOf(rows) };
};

/** The segments of a revision as they are at a later one, by the changes in between. */
export const caughtUp = async (
  database: Database,
  environmentId: number,
  { revision, segments }: Awaited<ReturnType<typeof wholeSegments>>,
  wanted: number,
): Promise<readonly WholeSegment[]> => {
  if (wanted === revision) return segments;
  const changes = await database
    .selectFrom("history")
    .select(["subject_id", "version", "after"])
    .where("environment_id", "=", environmentId)
    .where("revision", ">", revision)
    .where("revision", "<=", wanted)
    .where("subject", "=", "segment")
    .orderBy("revision")
    .execute();
  const found = new Map(segments.map((each) => [each.segment.key, each]));
  for (const { subject_id: key, version, after } of changes) {
    if (after === null) found.delete(key);
    else {
      const known = found.get(key);
      const change = JSON.parse(after) as SegmentChange;
      const state = applyToState(known && stateOf(known.segment), change);
      found.set(key, { segment: segmentOf(state), version: version ?? 0 });
    }
  }
  return [...found.values()].sort((a, b) => byText(a.segment.key, b.segment.key));
};

export const segmentReads = (database: Database): SegmentReads => {
  const rowOf = (environmentId: number, key: string) =>
    segmentRows(database, environmentId).where("key", "=", key).executeTakeFirst();
  return {
    async segments(environmentId) {
      const rows = await segmentRows(database, environmentId).orderBy("key").execute();
      return rows.map(summaryOf);
    },

    async segment(environmentId, key) {
      const row = await rowOf(environmentId, key);
      return row && summaryOf(row);
    },

    async wholeSegment(environmentId, key) {
      return wholesOf(await wholeRows(database, environmentId, key))[0];
    },

    async membersAmong(environmentId, key, list, candidates) {
      const found: string[] = [];
      for (const members of batchesOf(candidates)) {
        const rows = await memberRows(database, environmentId)
          .select("member")
          .where("segment_key", "=", key)
          .where("list", "=", list)
          .where("member", "in", idList(members))
          .execute();
        found.push(...rows.map(({ member }) => member));
      }
      return found;
    },
  };
};

/** A version from before references may have deleted the flag. */
const references = (database: Database, environmentId: number, kind: "flag" | "segment") =>
  database
    .selectFrom("flag_references")
    .innerJoin("flags", (join) =>
      join
        .onRef("flags.environment_id", "=", "flag_references.environment_id")
        .onRef("flags.key", "=", "flag_references.flag_key"),
    )
    .select(["flag_references.flag_key", "flag_references.variant"])
    .where("flag_references.environment_id", "=", environmentId)
    .where("flag_references.kind", "=", kind);

export const referenceReads = (
  database: Database,
  flagsAmong: (environmentId: number, keys: readonly string[]) => Promise<readonly VersionedFlag[]>,
): ReferenceReads => ({
  flagsAmong,

  async segmentsAmong(environmentId, keys) {
    if (keys.length === 0) return [];
    const rows = await database
      .selectFrom("segments")
      .select("key")
      .where("environment_id", "=", environmentId)
      .where("key", "in", idList(keys))
      .execute();
    return rows.map(({ key }) => key);
  },

  async requiring(environmentId, keys) {
    const found = new Set<string>();
    for (const part of batchesOf(keys)) {
      const rows = await references(database, environmentId, "flag")
        .where("flag_references.key", "in", idList(part))
        .execute();
      for (const { flag_key } of rows) found.add(flag_key);
    }
    return [...found];
  },

  async referencesTo(environmentId, kind, key) {
    const rows = await references(database, environmentId, kind)
      .where("flag_references.key", "=", key)
      .orderBy("flag_references.flag_key")
      .execute();
    return rows.map(({ flag_key, variant }) => ({ flag: flag_key, variant }));
  },
});
