// Which columns are encrypted, and what is done with all of them: encrypting again, and telling which cannot be read.
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../schema/dialect.ts";
import type { Tables } from "../schema/tables.ts";
import type { SecretCipher } from "./secret-cipher.ts";

/** Each is bound to the `id` of its row. */
export const encryptedColumns: { readonly [T in keyof Tables]?: readonly string[] } = {
  webhooks: ["secret", "previous_secret"],
  users: ["totp"],
  installation: ["address_key"],
};

const tables = Object.entries(encryptedColumns) as [keyof Tables, readonly string[]][];

type Row = { readonly id: string } & Readonly<Record<string, Uint8Array | null>>;

const rowsOf = (table: keyof Tables, columns: readonly string[]) =>
  sql<Row>`select id, ${sql.join(columns.map((column) => sql.ref(column)))} from ${sql.table(table)} order by id`;

/** Encrypts every secret again with the newest key; returns their rows' number. */
export const reencrypt = async (
  database: Kysely<Tables>,
  dialect: Dialect,
  secrets: SecretCipher,
): Promise<number> => {
  let count = 0;
  for (const [table, columns] of tables) {
    const lock = dialect.locksRows ? sql` for update` : sql``;
    const { rows } = await sql<Row>`${rowsOf(table, columns)}${lock}`.execute(database);
    for (const row of rows) {
      const sealed = columns.filter((column) => row[column]);
      if (sealed.length === 0) continue;
      const anew = sealed.map((column) => {
        const secret = secrets.seal(secrets.open(row[column] as Uint8Array, row.id), row.id);
        return sql`${sql.ref(column)} = ${secret}`;
      });
      await sql`update ${sql.table(table)} set ${sql.join(anew)} where id = ${row.id}`.execute(
        database,
      );
      count += 1;
    }
  }
  return count;
};

/** Ids of the webhooks and people whose secret was encrypted with a key that is missing; "installation" for the key of addresses. */
export const unreadableSecrets = async (
  database: Kysely<Tables>,
  secrets: SecretCipher | undefined,
): Promise<string[]> => {
  const unreadable: string[] = [];
  for (const [table, columns] of tables) {
    const { rows } = await rowsOf(table, columns).execute(database);
    const bad = rows.filter((row) => !isRowReadable(row, columns, secrets));
    unreadable.push(...bad.map(({ id }) => id));
  }
  return unreadable;
};

export const isRowReadable = (
  row: Readonly<Record<string, unknown>>,
  columns: readonly string[],
  secrets: SecretCipher | undefined,
): boolean =>
  columns.every((column) => {
    const sealed = row[column];
    if (!(sealed instanceof Uint8Array)) return true;
    try {
      return secrets?.open(sealed, String(row.id)) !== undefined;
    } catch {
      return false;
    }
  });
