// What is particular to SQLite among the databases.
import { sql } from "kysely";
import type { DatabaseTraits } from "../schema/dialect.ts";
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
  json: (rows) => JSON.stringify(rows),
  rowsOf: (rows, { numbers, texts }) =>
    sql`(select ${sql.join(
      [...numbers, ...texts].map((name) => sql`value ->> ${sql.lit(name)} as ${sql.ref(name)}`),
    )} from json_each(${rows})) as given`,
  async writeTogether(database, queries) {
    for (const query of queries) await execute(database, query);
  },
  alone: () => Promise.resolve(),
  // Other processes watch the data version.
  notify: () => Promise.resolve(),
  now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
};
