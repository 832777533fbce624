// What is particular to SQLite among the databases.
import { sql } from "kysely";
import type { Dialect, RowValues } from "../schema/dialect.ts";

export const sqliteDialect: Dialect = {
  bytes: sql`blob`,
  text: sql`text`,
  identity: sql`integer primary key autoincrement`,
  givenIdentity: sql``,
  // SQLite keeps the highest number itself.
  countOn: () => Promise.resolve(),
  // A transaction that writes is the only one from its beginning to its end.
  locked: (query) => query,
  lockedIfFree: (query) => query,
  kept: (query) => query,
  locksRows: false,
  list: (ids) => JSON.stringify(ids),
  isIn: (column, list) => sql`${sql.ref(column)} in (select value from json_each(${list}))`,
  given: (_, value) => ({
    column: (name) => sql`${value(name)}`,
    from: sql``,
    isRowOf: (table, name) => sql`${sql.ref(`${table}.${name}`)} = ${value(name)}`,
  }),
  // There are no round trips to save, and values need not be taken out of JSON.
  rowValues: (rows) => rows as readonly RowValues[],
  alone: () => Promise.resolve(),
  // Other processes watch the data version.
  notify: () => Promise.resolve(),
  notifyOthers: () => Promise.resolve(),
  now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
};
