// History in SQL, a page at a time: bounded in entries and in bytes. And the log of events, by their numbers.
import { type Selectable, sql } from "kysely";
import type {
  EventLogReads,
  HistoryEntry,
  HistoryQuery,
  HistoryReads,
  HistorySubject,
} from "../../domain/history.ts";
import { type Actor, isUserId, type Review } from "../../domain/principal.ts";
import type { Database, Tables } from "../schema/tables.ts";

/** An entry of a large segment has 25 MB: a page ends with the entry that exceeds this. */
export const maxPageBytes = 8 * 1_024 * 1_024;

const columns = [
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

/** Who a row names. */
export const actorOf = (
  row: Pick<
    Selectable<Tables["history"]>,
    "actor_key_id" | "actor_name" | "actor_user_id" | "actor_user_name"
  >,
): Actor => ({
  keyId: row.actor_key_id,
  name: row.actor_name,
  ...(row.actor_user_id !== null && {
    user: { id: row.actor_user_id, name: row.actor_user_name ?? row.actor_name },
  }),
});

const entryOf = (
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
  before: row.before === null ? null : JSON.parse(row.before),
  after: row.after === null ? null : JSON.parse(row.after),
  chain: row.chain,
});

/** Neither database reads a large text to know its size. */
export const historySize = sql<number>`coalesce(octet_length(before), 0) + coalesce(octet_length(after), 0)`;

/** Of one thing by number, which is how it is indexed; else by time, for every filter. */
const orderOf = ({ subjectId }: HistoryQuery) =>
  subjectId === undefined ? sql`at desc, id desc` : sql`id desc`;

/** The ids and sizes of a page. */
const pageRows = (database: Database, environmentId: number, query: HistoryQuery) => {
  const { subject, subjectId, deleted, since, until, limit } = query;
  const { before = { id: 0, at: new Date(0) } } = query;
  const isOfOne = subjectId !== undefined;
  return database
    .selectFrom("history")
    .select(["id", "at", historySize.as("size")])
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

/** Of whoever has this name or this key id: each of the two has its index. So has the id of a person. */
const byActor = (database: Database, environmentId: number, query: HistoryQuery, actor: string) => {
  const rows = pageRows(database, environmentId, query);
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

export const historyReads = (database: Database): HistoryReads => ({
  async history(environmentId, query) {
    const { actor } = query;
    const order = orderOf(query);
    const rows = await database
      .with("page", () =>
        actor === undefined
          ? pageRows(database, environmentId, query)
          : byActor(database, environmentId, query, actor),
      )
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
      .select(columns.map((column) => `history.${column}` as const))
      .select("found")
      .where("earlier", "<=", maxPageBytes)
      .orderBy("place")
      .execute();
    return { entries: rows.map(entryOf), found: Number(rows[0]?.found ?? 0) };
  },
});

export const eventLogReads = (database: Database): EventLogReads => ({
  async eventLog(environmentId, { limit, after, since }) {
    const events = database
      .selectFrom("events")
      .select(["sequence", "body"])
      .where("environment_id", "=", environmentId)
      // Tests have no number.
      .where("sequence", "is not", null)
      .limit(limit);
    const shown = (rows: readonly { sequence: number | null; body: Uint8Array }[]) =>
      rows.map(({ sequence, body }) => ({ sequence: sequence ?? 0, body }));
    if (after === undefined && since === undefined) {
      return shown(await events.orderBy("sequence", "desc").execute()).reverse();
    }
    // By time and not by number: that is where an index leads.
    const first =
      since &&
      (await events
        .clearLimit()
        .limit(1)
        .where("created_at", ">=", since.getTime())
        .orderBy("created_at")
        .orderBy("sequence")
        .executeTakeFirst());
    if (since && !first) return [];
    const from = Math.max((after ?? 0) + 1, first?.sequence ?? 0);
    return shown(await events.where("sequence", ">=", from).orderBy("sequence").execute());
  },
});
