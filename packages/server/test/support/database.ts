// Looks into the database file of a started server, beside the server itself.
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { TestServer } from "./server.ts";

type Value = string | number | Uint8Array | null;
type Row = Readonly<Record<string, Value>>;

const withDatabase = <T>(
  { folder }: Pick<TestServer, "folder">,
  readOnly: boolean,
  work: (database: DatabaseSync) => T,
): T => {
  const database = new DatabaseSync(join(folder, "halyard.db"), { readOnly, timeout: 5_000 });
  try {
    return work(database);
  } finally {
    database.close();
  }
};

export const readRows = (
  server: Pick<TestServer, "folder">,
  query: string,
  ...values: SQLInputValue[]
): Row[] =>
  withDatabase(server, true, (database) => database.prepare(query).all(...values) as Row[]);

export const writeRows = (
  server: Pick<TestServer, "folder">,
  statement: string,
  ...values: SQLInputValue[]
): void => {
  withDatabase(server, false, (database) => database.prepare(statement).run(...values));
};

export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAt: string;
  readonly environment: string;
  readonly sequence: number;
  readonly data: {
    readonly flag: unknown;
    readonly version: number;
    readonly previous: Readonly<Record<string, unknown>>;
  };
  readonly actor: { readonly keyId: string; readonly name: string };
}

/** The bodies of an environment's events as receivers get them, oldest first. */
export const readEvents = (
  server: Pick<TestServer, "folder">,
  environment: string,
): StoredEvent[] =>
  readRows(
    server,
    `select body from events join environments on environments.id = environment_id
     where environments.name = ? order by events.sequence`,
    environment,
  ).map(({ body }) => JSON.parse(Buffer.from(body as Uint8Array).toString()) as StoredEvent);

/** The counters of an environment, which every change of a flag moves and nothing else does. */
export const readCounters = (server: Pick<TestServer, "folder">, environment: string): Row => {
  const [row] = readRows(
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
