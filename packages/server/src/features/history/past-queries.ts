// An environment as it was, from the revisions in its history.
import type { Kind } from "@halyard/core/kinds";
import { sql } from "kysely";
import type { Db } from "../../platform/database/db.ts";
import type { FirstChange, PastChange } from "../../writes/history-entry.ts";
import { historySize, maxPageBytes } from "./page-queries.ts";

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));

interface ChangeRow {
  readonly version: number | null;
  readonly before: string | null;
  readonly after: string | null;
}

const changeOf = ({ version, before, after }: ChangeRow): PastChange => ({
  version: version ?? 0,
  before: parsed(before),
  after: parsed(after),
});

const tables = { flag: "flags", segment: "segments" } as const;

/** Changes of the segment in one page. */
const pageLength = 500;

/** The last revision made at this time or before; undefined before the environment was there. */
export const findRevisionAt = async (
  { database }: Db,
  environmentId: number,
  at: Date,
): Promise<number | undefined> => {
  // Times never go back, so the last entry up to then has the highest revision.
  const last = await database
    .selectFrom("history")
    .select("revision")
    .where("environment_id", "=", environmentId)
    .where("at", "<=", at.getTime())
    .where("revision", "is not", null)
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  if (last) return last.revision ?? 0;
  const begun = await database
    .selectFrom("environments")
    .select("id")
    .where("id", "=", environmentId)
    .where("created_at", "<=", at.getTime())
    .executeTakeFirst();
  return begun && 0;
};

/** When a revision was made; null when history does not have it. */
export const findRevisionTime = async (
  { database }: Db,
  environmentId: number,
  revision: number,
): Promise<Date | null> => {
  const row = await database
    .selectFrom("history")
    .select("at")
    .where("environment_id", "=", environmentId)
    .where("revision", "=", revision)
    .executeTakeFirst();
  return row ? new Date(row.at) : null;
};

/** How many of the revisions after one, up to another, are still in history. */
export const countRevisions = async (
  { database }: Db,
  environmentId: number,
  after: number,
  last: number,
): Promise<number> => {
  const row = await database
    .selectFrom("history")
    .select(({ fn }) => fn.countAll().as("count"))
    .where("environment_id", "=", environmentId)
    .where("revision", ">", after)
    .where("revision", "<=", last)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
};

/** For each thing that was there at a revision, or is there now, its first change since; of one key or of all. */
export const listFirstChanges = async (
  { database }: Db,
  environmentId: number,
  kind: Kind,
  revision: number,
  key?: string,
): Promise<readonly FirstChange[]> => {
  const rows = await database
    .with("first", (first) =>
      first
        .selectFrom("history")
        .select(({ fn }) => fn.min("revision").as("number"))
        .where("environment_id", "=", environmentId)
        .where("subject", "=", kind)
        .where("revision", ">", revision)
        .$if(key !== undefined, (one) => one.where("subject_id", "=", key ?? ""))
        .groupBy("subject_id"),
    )
    .selectFrom("first")
    .innerJoin("history as change", (join) =>
      join
        .onRef("change.revision", "=", "first.number")
        .on("change.environment_id", "=", environmentId),
    )
    .select(["change.subject_id", "change.version", "change.before"])
    .select((change) =>
      change
        .selectFrom("history as earlier")
        .select("earlier.level")
        .where("earlier.environment_id", "=", environmentId)
        .where("earlier.subject", "=", kind)
        .whereRef("earlier.subject_id", "=", "change.subject_id")
        .whereRef("earlier.id", "<", "change.id")
        .orderBy("earlier.id", "desc")
        .limit(1)
        .as("level"),
    )
    // What came after the revision, and is gone again, does not matter.
    .where((change) =>
      change.or([
        change("change.before", "is not", null),
        change.exists(
          change
            .selectFrom(tables[kind])
            .select(sql.lit(1).as("one"))
            .whereRef(`${tables[kind]}.key`, "=", "change.subject_id")
            .where(`${tables[kind]}.environment_id`, "=", environmentId),
        ),
      ]),
    )
    .execute();
  return rows.map((row) => ({
    key: row.subject_id,
    version: row.version ?? 0,
    before: parsed(row.before),
    ...(row.level !== null && { level: row.level }),
  }));
};

/** The first time after a revision that a segment was deleted. */
export const findFirstDeletion = async (
  { database }: Db,
  environmentId: number,
  segment: string,
  revision: number,
): Promise<PastChange | undefined> => {
  const row = await database
    .selectFrom("history")
    .select(["version", "before", "after"])
    .where("environment_id", "=", environmentId)
    .where("subject", "=", "segment")
    .where("subject_id", "=", segment)
    .where("revision", ">", revision)
    .where("after", "is", null)
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return row && changeOf(row);
};

/** The changes of a segment after a revision and up to a version, newest first. Large ones end a page early. */
export const listChangesBack = async (
  { database }: Db,
  environmentId: number,
  segment: string,
  revision: number,
  version: number,
): Promise<readonly PastChange[]> => {
  const rows = await database
    .with("page", (page) =>
      page
        .selectFrom("history")
        .select(["id as number", historySize.as("size")])
        .where("environment_id", "=", environmentId)
        .where("subject", "=", "segment")
        .where("subject_id", "=", segment)
        .where("revision", ">", revision)
        .where("version", "<=", version)
        .orderBy("id", "desc")
        .limit(pageLength),
    )
    .selectFrom((page) =>
      page
        .selectFrom("page")
        .select("number")
        .select(sql<number>`sum(size) over (order by number desc) - size`.as("earlier"))
        .as("page"),
    )
    .innerJoin("history", "history.id", "page.number")
    .select(["version", "before", "after"])
    .where("earlier", "<=", maxPageBytes)
    .orderBy("history.id", "desc")
    .execute();
  return rows.map(changeOf);
};
