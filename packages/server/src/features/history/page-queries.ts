// A page of history: bounded in entries and in bytes.

import { type RawBuilder, type Selectable, sql } from "kysely";
import { isUserId, type Review } from "../../platform/auth/principal.ts";
import { actorOf } from "../../platform/database/schema/history-row.ts";
import type { Database, Tables } from "../../platform/database/schema/tables.ts";
import type {
  HistoryEntry,
  HistoryPage,
  HistoryQuery,
  HistorySubject,
  SearchedEntry,
} from "../../writes/history-entry.ts";

/** An entry of a large segment has 25 MB: a page ends with the entry that exceeds this. */
export const maxPageBytes = 8 * 1_024 * 1_024;
/** A search reads many pages, and other requests are served between them. */
export const maxSearchedBytes = 1_024 * 1_024;

export const columns = [
  "id",
  "subject",
  "subject_id",
  "revision",
  "version",
  "at",
  "actor_key_id",
  "actor_name",
  "actor_user_id",
  "actor_user_name",
  "reason",
  "review",
  "actions",
  "before",
  "after",
  "chain",
] as const;

export const searchedColumns = [
  ...(["id", "subject", "subject_id", "at", "reason"] as const),
  ...(["actor_key_id", "actor_name", "actor_user_id", "actor_user_name"] as const),
] as const;

const parsed = (json: string | null): unknown => (json === null ? null : JSON.parse(json));

export const searchedOf = (
  row: Pick<Selectable<Tables["history"]>, (typeof searchedColumns)[number] | "before" | "after">,
): SearchedEntry => ({
  id: row.id,
  subject: row.subject as HistorySubject,
  subjectId: row.subject_id,
  at: new Date(row.at),
  actor: actorOf(row),
  ...(row.reason !== null && { reason: row.reason }),
  before: parsed(row.before),
  after: parsed(row.after),
});

export const entryOf = (
  row: Pick<Selectable<Tables["history"]>, (typeof columns)[number]>,
): HistoryEntry => ({
  id: row.id,
  subject: row.subject as HistorySubject,
  subjectId: row.subject_id,
  version: row.version,
  revision: row.revision,
  at: new Date(row.at),
  actor: actorOf(row),
  ...(row.reason !== null && { reason: row.reason }),
  ...(row.review !== null && { review: JSON.parse(row.review) as Review }),
  actions: JSON.parse(row.actions) as string[],
  before: parsed(row.before),
  after: parsed(row.after),
  chain: row.chain,
});

/** Neither database reads a large text to know its size. */
export const historySize = sql<number>`coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0)`;

/** Of one thing by number, which is how it is indexed; else by time, for every filter. */
export const orderOf = ({ subjectId }: HistoryQuery) =>
  subjectId === undefined ? sql`at desc, id desc` : sql`id desc`;

/** Omits the states of segments: they can be large, and no search checks them. */
export const isSearched = sql<boolean>`subject <> 'segment'`;
export const sizes = {
  whole: historySize,
  searched: sql<number>`case when ${isSearched} then ${historySize} else 0 end`,
  none: sql<number>`0`,
} as const;
type Size = (typeof sizes)[keyof typeof sizes];

/** The ids and sizes of a page. */
const pageRows = (database: Database, environmentId: number, query: HistoryQuery, size: Size) => {
  const { subject, subjectId, deleted, since, until, limit } = query;
  const { before = { id: 0, at: new Date(0) } } = query;
  const isOfOne = subjectId !== undefined;
  return database
    .selectFrom("history")
    .select(["id", "at", size.as("size")])
    .where("environment_id", "=", environmentId)
    .$if(subject !== undefined, (rows) => rows.where("subject", "=", subject ?? ""))
    .$if(isOfOne, (rows) => rows.where("subject_id", "=", subjectId ?? ""))
    .$if(deleted === true, (rows) => rows.where("after", "is", null))
    .$if(since !== undefined, (rows) => rows.where("at", ">=", since?.getTime() ?? 0))
    .$if(until !== undefined, (rows) => rows.where("at", "<=", until?.getTime() ?? 0))
    .$if(query.before !== undefined, (rows) =>
      isOfOne
        ? rows.where("id", "<", before.id)
        : rows.where(sql<boolean>`(at, id) < (${before.at.getTime()}, ${before.id})`),
    )
    .orderBy(orderOf(query))
    .limit(limit);
};

/** By the actor with this name or this key id: each of the two has its index. So has the id of a person. */
const byActor = (
  database: Database,
  environmentId: number,
  query: HistoryQuery,
  actor: string,
  size: Size,
) => {
  const rows = pageRows(database, environmentId, query, size);
  if (isUserId(actor)) return rows.where("actor_user_id", "=", actor);
  const named = rows.where("actor_name", "=", actor);
  const known = rows.where("actor_key_id", "=", actor).where("actor_name", "!=", actor);
  return database
    .selectFrom(named.as("named"))
    .selectAll()
    .unionAll(database.selectFrom(known.as("known")).selectAll())
    .orderBy(orderOf(query))
    .limit(query.limit);
};

export const selectedRows = (
  database: Database,
  environmentId: number,
  query: HistoryQuery,
  size: Size,
) =>
  query.actor === undefined
    ? pageRows(database, environmentId, query, size)
    : byActor(database, environmentId, query, query.actor, size);

/** The rows in their order, up to that many bytes. */
export const boundedPage = (
  database: Database,
  rows: ReturnType<typeof selectedRows>,
  order: RawBuilder<unknown>,
  maxBytes: number,
) =>
  database
    .with("page", () => rows)
    .selectFrom((page) =>
      page
        .selectFrom("page")
        .select([
          "page.id as number",
          sql<number>`row_number() over (order by ${order})`.as("place"),
          sql<number>`sum(size) over (order by ${order}) - size`.as("earlier"),
          sql<number>`count(*) over ()`.as("found"),
        ])
        .as("page"),
    )
    .innerJoin("history", "history.id", "page.number")
    .select("found")
    .where("earlier", "<=", maxBytes)
    .orderBy("place");

export const pageOf = <Row extends { readonly found: number }, Entry>(
  rows: readonly Row[],
  show: (row: Row) => Entry,
): HistoryPage<Entry> => ({ entries: rows.map(show), found: Number(rows[0]?.found ?? 0) });
