// Copies one store into another, empty one, and compares the two row by row before it commits.
import { isDeepStrictEqual } from "node:util";
import type { Signature } from "@halyard/core/history/chain";
import { type Kysely, sql } from "kysely";
import { checkpointPurpose } from "../../../features/history/checkpoints.ts";
import { readAddressKey } from "../../../features/people/address-hashes.ts";
import { conflict, ok, type Result, StartupProblem } from "../../errors.ts";
import type { Dialect } from "../schema/dialect.ts";
import { type TableFacts, tableFacts, tableNames } from "../schema/table-facts.ts";
import type { Tables } from "../schema/tables.ts";
import { encryptedColumns } from "../secrets/encrypted-rows.ts";
import type { SecretCipher } from "../secrets/secret-cipher.ts";

/** Rows in one statement. */
const batch = 500;

const copiedTables = tableNames.filter((table) => tableFacts[table].isCopied);
type CopiedTable = keyof Tables;

type Value = string | number | Uint8Array | null;
type Row = Readonly<Record<string, Value>>;

/** One end of the copy, as seen within one transaction. */
export interface CopySide {
  readonly database: Kysely<Tables>;
  readonly dialect: Dialect;
  readonly secrets: SecretCipher;
}

export interface CopyWatch {
  /** Called with the rows of a table copied so far. */
  readonly copied: (table: string, rows: number) => void;
  readonly compared: (table: string, rows: number) => void;
}

export type CopiedRows = Readonly<Record<string, number>>;

/** Throws when a row of the copy differs. */
export const copyStore = async (
  from: CopySide,
  to: CopySide,
  watch: CopyWatch,
): Promise<Result<CopiedRows>> => {
  const present = await anyEnvironment(to.database);
  if (present !== undefined) {
    return conflict(
      `The target already holds the environment "${present}": copy into an empty database.`,
    );
  }
  await readAddressKey(from);
  const counts: Record<string, number> = {};
  for (const table of copiedTables) {
    let count = 0;
    for await (const rows of pages(from.database, table)) {
      const copies = rows.map((row) => reencrypt(table, row, from.secrets, to.secrets));
      await sql`insert into ${sql.table(table)} (${names(Object.keys(copies[0] ?? {}))})
        ${to.dialect.givenIdentity} values ${sql.join(copies.map((row) => sql`(${sql.join(Object.values(row))})`))}`.execute(
        to.database,
      );
      count += rows.length;
      watch.copied(table, count);
    }
    counts[table] = count;
  }
  for (const table of copiedTables) {
    const { identity }: TableFacts = tableFacts[table];
    if (identity !== undefined) await to.dialect.countOn(to.database, table, identity);
  }
  for (const table of copiedTables) await compare(from, to, table, watch);
  return ok(counts);
};

const names = (columns: readonly string[]) => sql.join(columns.map((name) => sql.ref(name)));

const anyEnvironment = async (database: Kysely<Tables>): Promise<string | undefined> => {
  const found = await database
    .selectFrom("environments")
    .select("name")
    .limit(1)
    .executeTakeFirst();
  return found?.name;
};

async function* pages(database: Kysely<Tables>, table: CopiedTable): AsyncGenerator<Row[]> {
  const key: readonly string[] = tableFacts[table].key;
  let last: Row | undefined;
  for (;;) {
    const after = last;
    const rest = after
      ? sql`where (${names(key)}) > (${sql.join(key.map((column) => after[column]))})`
      : sql``;
    const { rows } = await sql<Row>`select * from ${sql.table(table)} ${rest}
      order by ${names(key)} limit ${sql.lit(batch)}`.execute(database);
    if (rows.length > 0) yield rows;
    if (rows.length < batch) return;
    last = rows.at(-1);
  }
}

/** A checkpoint that is signed is signed with the target's key; another one stays as it is. */
const signAnew = (row: Row, from: SecretCipher, to: SecretCipher): Row => {
  const [statement, keyId, hmac] = [row.statement, row.key_id, row.hmac].map(String);
  if (!statement || !from.isSigned(statement, { keyId, hmac } as Signature, checkpointPurpose)) {
    return row;
  }
  const signed = to.sign(statement, checkpointPurpose);
  return { ...row, key_id: signed.keyId, hmac: signed.hmac };
};

/** Secrets are encrypted with the target's key; everything else stays as it is. */
const reencrypt = (table: CopiedTable, row: Row, from: SecretCipher, to: SecretCipher): Row => {
  if (table === "history_checkpoints") return signAnew(row, from, to);
  const columns = encryptedColumns[table];
  if (!columns) return row;
  const changed: Record<string, Value> = { ...row };
  for (const column of columns) {
    const value = row[column];
    if (value instanceof Uint8Array) {
      changed[column] = to.seal(from.open(value, String(row.id)), String(row.id));
    }
  }
  return changed;
};

/** A row in comparable form: bytes as text, secrets decrypted. */
const comparable = (table: CopiedTable, row: Row, secrets: SecretCipher): Row => {
  if (table === "history_checkpoints") {
    const { key_id, hmac, ...rest } = row;
    const signature = { keyId: String(key_id), hmac: String(hmac) };
    const isSigned = secrets.isSigned(String(row.statement), signature, checkpointPurpose) === true;
    return { ...rest, isSigned: String(isSigned) };
  }
  return Object.fromEntries(
    Object.entries(row).map(([column, value]): [string, Value] => {
      if (!(value instanceof Uint8Array)) return [column, value];
      const isEncrypted = encryptedColumns[table]?.includes(column) ?? false;
      return [
        column,
        isEncrypted ? secrets.open(value, String(row.id)) : Buffer.from(value).toString("hex"),
      ];
    }),
  );
};

const compare = async (
  from: CopySide,
  to: CopySide,
  table: CopiedTable,
  watch: CopyWatch,
): Promise<void> => {
  const copiesOf = pages(to.database, table);
  let count = 0;
  for await (const rows of pages(from.database, table)) {
    const { value: copies = [] } = await copiesOf.next();
    const comparableRows = (side: CopySide, those: readonly Row[]) =>
      those.map((row) => comparable(table, row, side.secrets));
    if (!isDeepStrictEqual(comparableRows(from, rows), comparableRows(to, copies as Row[]))) {
      throw different(table, count, rows.length);
    }
    count += rows.length;
    watch.compared(table, count);
  }
  const { value: more = [] } = await copiesOf.next();
  if ((more as Row[]).length > 0) throw different(table, count, (more as Row[]).length);
};

const different = (table: string, begin: number, length: number): StartupProblem =>
  new StartupProblem(
    `The copy of the table ${table} differs from the original within rows ${begin + 1} to ${begin + length}, so it was rolled back.`,
  );
