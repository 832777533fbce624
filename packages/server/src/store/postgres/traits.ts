// PostgreSQL's own ways, as the queries ask for them by name.
import { sql } from "kysely";
import type { DatabaseTraits } from "../schema/dialect.ts";

/** Any numbers will do, as long as nobody else in the database uses them. */
const lockFamily = 0x48414c59;
const locks = { migration: 1, alone: 2 } as const;

/** Held until the transaction ends. */
export const advisoryLock = (name: keyof typeof locks) =>
  sql`select pg_advisory_xact_lock(${sql.lit(lockFamily)}, ${sql.lit(locks[name])})`;

export const channel = "halyard";

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
  // Nobody's key is changed: rows that refer to these may come and go meanwhile.
  locked: (query) => query.forNoKeyUpdate(),
  lockedIfFree: (query) => query.forUpdate().skipLocked(),
  kept: (query) => query.forKeyShare(),
  locksRows: true,
  async alone(database) {
    await advisoryLock("alone").execute(database);
  },
  // Without a payload, so that those of one transaction are folded into one.
  async notify(database) {
    await sql`notify ${sql.ref(channel)}`.execute(database);
  },
};
