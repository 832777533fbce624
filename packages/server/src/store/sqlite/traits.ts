// What is particular to SQLite among the databases.
import { sql } from "kysely";
import type { DatabaseTraits, RowValues } from "../schema/dialect.ts";
import { execute } from "../schema/kysely-on.ts";

export const sqliteTraits: DatabaseTraits = {
  bytes: sql`blob`,
  text: sql`text`,
  withIdentity: (table, name) =>
    table.addColumn(name, "integer", (column) => column.primaryKey().autoIncrement()),
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
  given: (_, values) => ({
    column: (name) => sql`${values[name]}`,
    from: sql``,
    isRowOf: (table, name) => sql`${sql.ref(`${table}.${name}`)} = ${values[name]}`,
  }),
  // There are no round trips to save, and values need not be taken out of JSON. One after the other: some errors roll the
  // transaction back at once, and what ran after one would be committed by itself.
  async writeRows(database, rows, fill) {
    for (const row of rows) await execute(database, fill(row as RowValues));
  },
  async writeTogether(database, queries) {
    for (const query of queries) await execute(database, query);
  },
  insist: undefined,
  alone: () => Promise.resolve(),
  // Other processes watch the data version.
  notify: () => Promise.resolve(),
  now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
};
