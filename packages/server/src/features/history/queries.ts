// History in SQL: pages of it, what a search looks at, and the log of events by their numbers.
import { sql } from "kysely";
import type { Db } from "../../platform/database/db.ts";
import { idList } from "../../platform/database/schema/id-list.ts";
import type {
  EventLogPage,
  EventLogQuery,
  HistoryPage,
  HistoryQuery,
  SearchedEntry,
} from "../../writes/history-entry.ts";
import {
  boundedPage,
  columns,
  entryOf,
  historySize,
  isSearched,
  maxPageBytes,
  maxSearchedBytes,
  orderOf,
  pageOf,
  searchedColumns,
  searchedOf,
  selectedRows,
  sizes,
} from "./page-queries.ts";

const wholeColumns = columns.map((column) => `history.${column}` as const);

/** Newest first. Large entries end a page early. */
export const listHistory = async (
  { database }: Pick<Db, "database">,
  environmentId: number,
  query: HistoryQuery,
): Promise<HistoryPage> => {
  const rows = selectedRows(database, environmentId, query, sizes.whole);
  const page = boundedPage(database, rows, orderOf(query), maxPageBytes);
  return pageOf(await page.select(wholeColumns).execute(), entryOf);
};

/** Entries by their numbers, newest first. Large ones end the page early. */
export const listHistoryEntries = async (
  { database }: Db,
  environmentId: number,
  ids: readonly number[],
): Promise<HistoryPage> => {
  if (ids.length === 0) return { entries: [], found: 0 };
  const rows = database
    .selectFrom("history")
    .select(["id", "at", historySize.as("size")])
    .where("environment_id", "=", environmentId)
    .where("id", "in", idList(ids));
  const page = boundedPage(database, rows, sql`at desc, id desc`, maxPageBytes);
  return pageOf(await page.select(wholeColumns).execute(), entryOf);
};

/** The fields that a search checks, in the same order and bounded too. Without states, `before` and `after` are null. */
export const listSearchedHistory = async (
  { database }: Db,
  environmentId: number,
  query: HistoryQuery,
  withStates: boolean,
): Promise<HistoryPage<SearchedEntry>> => {
  const size = withStates ? sizes.searched : sizes.none;
  const rows = selectedRows(database, environmentId, query, size);
  const state = (column: "before" | "after") =>
    withStates
      ? sql<string | null>`case when ${isSearched} then history.${sql.ref(column)} end`
      : sql<null>`null`;
  const page = boundedPage(database, rows, orderOf(query), maxSearchedBytes)
    .select(searchedColumns.map((column) => `history.${column}` as const))
    .select([state("before").as("before"), state("after").as("after")]);
  return pageOf(await page.execute(), searchedOf);
};

/** Tests have no number. */
const numberedEvents = ({ database }: Db, environmentId: number) =>
  database
    .selectFrom("events")
    .where("environment_id", "=", environmentId)
    .where("sequence", "is not", null);

/** Searches by time instead of by number, because time has an index. */
const findFirstSince = async (
  db: Db,
  environmentId: number,
  since: Date,
): Promise<number | undefined> => {
  const first = await numberedEvents(db, environmentId)
    .select("sequence")
    .where("created_at", ">=", since.getTime())
    .orderBy("created_at")
    .orderBy("sequence")
    .limit(1)
    .executeTakeFirst();
  return first?.sequence ?? undefined;
};

/** Events as they are delivered, oldest first: after a number, or the newest. Bounded in bytes too. */
export const listEventLog = async (
  db: Db,
  environmentId: number,
  { limit, after, since }: EventLogQuery,
): Promise<EventLogPage> => {
  const first = since && (await findFirstSince(db, environmentId, since));
  if (since && first === undefined) return { events: [], hasMore: false };
  const isNewest = after === undefined && since === undefined;
  const order = isNewest ? sql`sequence desc` : sql`sequence`;
  const from = isNewest ? 0 : Math.max((after ?? 0) + 1, first ?? 0);
  const rows = await db.database
    .with("page", () =>
      numberedEvents(db, environmentId)
        .select(["id", "sequence", sql<number>`octet_length(body)`.as("size")])
        .where("sequence", ">=", from)
        .orderBy(order)
        .limit(limit + 1),
    )
    .selectFrom((page) =>
      page
        .selectFrom("page")
        .select([
          "page.id as number",
          sql<number>`sum(size) over (order by ${order}) - size`.as("earlier"),
          sql<number>`count(*) over ()`.as("found"),
        ])
        .as("page"),
    )
    .innerJoin("events", "events.id", "page.number")
    .select(["events.sequence", "events.body", "found"])
    .where("earlier", "<=", maxPageBytes)
    .orderBy(order)
    .limit(limit)
    .execute();
  const events = rows.map(({ sequence, body }) => ({ sequence: sequence ?? 0, body }));
  if (isNewest) return { events: events.reverse(), hasMore: false };
  return { events, hasMore: Number(rows[0]?.found ?? 0) > events.length };
};
