// What is particular to PostgreSQL among the databases.
import { sql } from "kysely";
import type { Dialect } from "../schema/dialect.ts";
import { send } from "../schema/kysely-on.ts";
import { escapeText } from "./pipeline.ts";

/** Arbitrary numbers that nothing else in the database uses. */
const lockFamily = 0x48414c59;
const locks = { migration: 1, alone: 2 } as const;

/** Held until the transaction ends. */
export const advisoryLock = (name: keyof typeof locks) =>
  sql`select pg_advisory_xact_lock(${sql.lit(lockFamily)}, ${sql.lit(locks[name])})`;

export const channel = "halyard";

const escapeValue = (_: string, value: unknown): unknown =>
  typeof value === "string" ? escapeText(value.toWellFormed()) : value;

/** The driver's escapes are not for JSON: what PostgreSQL's text cannot hold would fail the whole statement. Hardly any rows have such text. */
const jsonOf = (rows: readonly object[]): string => {
  const text = JSON.stringify(rows);
  return /\\u(?:0000|001a|d[89a-f])/.test(text) ? JSON.stringify(rows, escapeValue) : text;
};

const notifyAs =
  (name: string): Dialect["notifyOthers"] =>
  (database) =>
    send(database, sql`select pg_notify(${channel}, ${name})`);

export const postgresDialect: Dialect = {
  bytes: sql`bytea`,
  text: sql`text collate "C"`,
  identity: sql`bigint primary key generated always as identity`,
  givenIdentity: sql`overriding system value`,
  async countOn(database, table, column) {
    await sql`select setval(pg_get_serial_sequence(${table}, ${column}), highest)
      from (select max(${sql.ref(column)}) as highest from ${sql.table(table)}) as numbers
      where highest is not null`.execute(database);
  },
  // No key is changed, so rows that refer to these can be inserted and deleted meanwhile.
  locked: (query) => query.forNoKeyUpdate(),
  lockedIfFree: (query) => query.forUpdate().skipLocked(),
  kept: (query) => query.forKeyShare(),
  locksRows: true,
  list: (ids) => ids.map(escapeText),
  isIn: (column, list) => sql`${sql.ref(column)} = any(${list})`,
  given({ numbers, texts }, value) {
    const records = sql`json_to_recordset(cast(${value("rows")} as json))`;
    return {
      column: (name) => sql.ref(`given.${name}`),
      from: sql`from ${records} as given(${sql.join([
        ...numbers.map((name) => sql`${sql.ref(name)} bigint`),
        ...texts.map((name) => sql`${sql.ref(name)} text`),
      ])})`,
      isRowOf(table, name) {
        const [column, own] = [sql.ref(name), sql.ref(`${table}.${name}`)];
        // The list is for the planner: it takes the records for a hundred, and would read the whole of a table of some thousand rows.
        return sql`${own} = given.${column}
          and ${own} = any(array(select ${column} from ${records} as keys(${column} bigint)))`;
      },
    };
  },
  rowValues: (rows) => [{ rows: jsonOf(rows) }],
  async alone(database) {
    await advisoryLock("alone").execute(database);
  },
  // Without a payload, so that PostgreSQL merges those of one transaction.
  notify: (database) => send(database, sql`notify ${sql.ref(channel)}`),
  notifyOthers: notifyAs(""),
  now: sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
};

/** Of an instance, which sends its name with the changes that it has in memory already: its own listener ignores those. */
export const postgresDialectOf = (name: string): Dialect => ({
  ...postgresDialect,
  notifyOthers: notifyAs(name),
});
