// What is particular to PostgreSQL among the databases.
import { CompiledQuery, sql } from "kysely";
import type { DatabaseTraits } from "../schema/dialect.ts";
import { execute } from "../schema/kysely-on.ts";
import { escapeText, insisting } from "./pipeline.ts";

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

/** The writes as one statement, which notifies as well, with the name of whoever writes. */
const writeTogetherAs = (name: string): DatabaseTraits["writeTogether"] => {
  const merged = new Map<string, string>();
  const together = (texts: readonly string[]): string => {
    const key = texts.join(";");
    const known = merged.get(key);
    if (known !== undefined) return known;
    let parameters = 0;
    const parts = texts.map((text, index) => {
      const before = parameters;
      const numbered = text.replaceAll(/\$(\d+)/g, (_, number) => {
        parameters = Math.max(parameters, before + Number(number));
        return `$${before + Number(number)}`;
      });
      return `w${index} as (${numbered})`;
    });
    const statement = `with ${parts.join(", ")} select pg_notify('${channel}', '${name}')`;
    merged.set(key, statement);
    return statement;
  };
  return async (database, queries) => {
    await execute(
      database,
      CompiledQuery.raw(
        together(queries.map((query) => query.sql)),
        queries.flatMap(({ parameters }) => parameters),
      ),
    );
  };
};

export const postgresTraits: DatabaseTraits = {
  bytes: sql`bytea`,
  text: sql`text collate "C"`,
  withIdentity: (table, name) =>
    table.addColumn(name, "bigint", (column) => column.primaryKey().generatedAlwaysAsIdentity()),
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
  given({ numbers, texts }, values) {
    const records = sql`json_to_recordset(cast(${values.rows} as json))`;
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
  async writeRows(database, rows, fill) {
    const { sql: text, parameters } = fill({ rows: jsonOf(rows) });
    await execute(database, CompiledQuery.raw(`with written as (${text}) select`, [...parameters]));
  },
  async insist(database, { sql: text, parameters }) {
    await execute(database, CompiledQuery.raw(insisting(text), [...parameters]));
  },
  async alone(database) {
    await advisoryLock("alone").execute(database);
  },
  // Without a payload, so that PostgreSQL merges those of one transaction.
  async notify(database) {
    await sql`notify ${sql.ref(channel)}`.execute(database);
  },
  writeTogether: writeTogetherAs(""),
  now: sql<number>`cast(extract(epoch from clock_timestamp()) * 1000 as bigint)`,
};

/** Of an instance, which tells its name with the changes that it makes: it has them in memory already. */
export const postgresTraitsOf = (name: string): DatabaseTraits => ({
  ...postgresTraits,
  writeTogether: writeTogetherAs(name),
});
