// Looks into the database of a started server, beside the server itself.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { query } from "./postgres.ts";
import type { TestServer } from "./server.ts";
import { databaseUrlOf, onPostgres } from "./test-store.ts";

type Value = string | number | Uint8Array | null;
export type Row = Readonly<Record<string, Value>>;
type Place = Pick<TestServer, "folder">;

const withFile = <T>(
  { folder }: Place,
  readOnly: boolean,
  callback: (database: DatabaseSync) => T,
): T => {
  const database = new DatabaseSync(join(folder, "halyard.db"), { readOnly, timeout: 60_000 });
  try {
    return callback(database);
  } finally {
    database.close();
  }
};

/** Values stand as ? in the text. */
const inPostgres = (
  { folder }: Place,
  text: string,
  values: readonly SQLInputValue[],
): Promise<Row[]> => {
  let number = 0;
  const numbered = text.replaceAll("?", () => {
    number += 1;
    return `$${number}`;
  });
  return query<Row>(databaseUrlOf(folder), numbered, values);
};

export const readRows = async (
  server: Place,
  text: string,
  ...values: SQLInputValue[]
): Promise<Row[]> =>
  onPostgres
    ? inPostgres(server, text, values)
    : withFile(server, true, (database) => database.prepare(text).all(...values) as Row[]);

export const writeRows = async (
  server: Place,
  text: string,
  ...values: SQLInputValue[]
): Promise<void> => {
  if (onPostgres) await inPostgres(server, text, values);
  else withFile(server, false, (database) => database.prepare(text).run(...values));
};

/** Everything that the store has written down, by file or by table, as bytes to be searched. */
export const readContents = async (place: Place): Promise<ReadonlyMap<string, Buffer>> => {
  if (!onPostgres) {
    const files = readdirSync(place.folder);
    return new Map(files.map((name) => [name, readFileSync(join(place.folder, name))]));
  }
  const contents = new Map<string, Buffer>();
  const tables = await readRows(
    place,
    "select tablename as name from pg_tables where schemaname = 'public'",
  );
  for (const { name } of tables) {
    const rows = await readRows(place, `select * from ${String(name)}`);
    const values = rows
      .flatMap(Object.values)
      .map((value) => Buffer.from(value instanceof Uint8Array ? value : `${String(value)}\n`));
    contents.set(String(name), Buffer.concat(values));
  }
  return contents;
};

export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly environment: string;
  readonly sequence: number;
  readonly chain: string;
  readonly data: {
    readonly flag: unknown;
    readonly version: number;
    readonly previous: Readonly<Record<string, unknown>>;
  };
  readonly actor: { readonly keyId: string; readonly name: string };
}

/** The bodies of an environment's events as receivers get them, oldest first. */
export const readEvents = async (server: Place, environment: string): Promise<StoredEvent[]> => {
  const rows = await readRows(
    server,
    `select body from events join environments on environments.id = environment_id
     where environments.name = ? order by events.sequence`,
    environment,
  );
  return rows.map(
    ({ body }) => JSON.parse(Buffer.from(body as Uint8Array).toString()) as StoredEvent,
  );
};

/** The counters of an environment, which every change of a flag moves and nothing else does. */
export const readCounters = async (server: Place, environment: string): Promise<Row> => {
  const [row] = await readRows(
    server,
    `select revision, environments.sequence, flag_count as flags,
       (select count(*) from events where environment_id = environments.id) as events,
       (select count(*) from history where environment_id = environments.id and subject = 'flag') as entries
     from environments where name = ?`,
    environment,
  );
  if (!row) throw new Error(`There is no environment ${environment}.`);
  return { ...row };
};
