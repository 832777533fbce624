// Segments and their members, and what flags name outside themselves.
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import type { MemberList } from "@halyard/core/targeting/segment";
import type { Selectable } from "kysely";
import type { VersionedFlag, VersionedSegment } from "../../domain/change.ts";
import type { ReferenceReads } from "../../domain/references.ts";
import type { SegmentReads, WholeSegment } from "../../domain/segments.ts";
import { batchesOf, idList } from "../schema/id-list.ts";
import type { Database, Tables } from "../schema/tables.ts";

const columns = [
  "key",
  "description",
  "condition",
  "include_count",
  "exclude_count",
  "version",
] as const;
type SegmentRow = Pick<Selectable<Tables["segments"]>, (typeof columns)[number]>;

const baseOf = ({ key, description, condition }: SegmentRow) => ({
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

type MemberRow = Pick<Selectable<Tables["segment_members"]>, "list" | "member">;

const wholeOf = (row: SegmentRow, members: readonly MemberRow[]): WholeSegment => {
  const { key, description, when } = baseOf(row);
  const inList = (list: MemberList) =>
    members.filter((each) => each.list === list).map(({ member }) => member);
  return {
    segment: {
      key,
      description,
      include: inList("include"),
      exclude: inList("exclude"),
      when,
    },
    version: row.version,
  };
};

const segmentRows = (database: Database, environmentId: number) =>
  database.selectFrom("segments").select(columns).where("environment_id", "=", environmentId);

const memberRows = (database: Database, environmentId: number) =>
  database.selectFrom("segment_members").where("environment_id", "=", environmentId);

/** Every segment with its members. */
export const wholeSegments = async (
  database: Database,
  environmentId: number,
): Promise<readonly WholeSegment[]> => {
  const rows = await segmentRows(database, environmentId).orderBy("key").execute();
  if (rows.length === 0) return [];
  const members = await memberRows(database, environmentId)
    .select(["segment_key", "list", "member"])
    .orderBy("segment_key")
    .orderBy("member")
    .execute();
  const ofSegment = Map.groupBy(members, ({ segment_key }) => segment_key);
  return rows.map((row) => wholeOf(row, ofSegment.get(row.key) ?? []));
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
      const row = await rowOf(environmentId, key);
      if (!row) return undefined;
      const members = await memberRows(database, environmentId)
        .select(["list", "member"])
        .where("segment_key", "=", key)
        .orderBy("member")
        .execute();
      return wholeOf(row, members);
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

  async referencesTo(environmentId, kind, key) {
    const rows = await database
      .selectFrom("flag_references")
      // A version from before references may have deleted the flag.
      .innerJoin("flags", (join) =>
        join
          .onRef("flags.environment_id", "=", "flag_references.environment_id")
          .onRef("flags.key", "=", "flag_references.flag_key"),
      )
      .select(["flag_references.flag_key", "flag_references.variant"])
      .where("flag_references.environment_id", "=", environmentId)
      .where("flag_references.kind", "=", kind)
      .where("flag_references.key", "=", key)
      .orderBy("flag_references.flag_key")
      .execute();
    return rows.map(({ flag_key, variant }) => ({ flag: flag_key, variant }));
  },
});
