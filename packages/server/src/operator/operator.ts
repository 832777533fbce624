// The composition root of the operator's commands: the store and its use cases, without a server.

import { randomBytes, randomUUID } from "node:crypto";
import { createEnvironments, type Environments } from "../features/environments/environments.ts";
import { redactHistory } from "../features/history/redact.ts";
import type { RedactedPerson } from "../features/history/redaction.ts";
import { type ApiKeys, createApiKeys } from "../features/keys/keys.ts";
import { createUsers, type Users } from "../features/people/people.ts";
import { createSignInLinks, type SignInLinks } from "../features/people/sign-in/links.ts";
import type { ObserveCall } from "../platform/database/schema/kysely-on.ts";
import { createSecretCipher } from "../platform/database/secrets/secret-cipher.ts";
import { secretKeysIn } from "../platform/database/secrets/secret-key-file.ts";
import { createSqlStore, type Engine } from "../platform/database/sql-store.ts";
import { hasDatabase, prepareFolder } from "../platform/database/sqlite/data-folder.ts";
import { openSqliteEngine } from "../platform/database/sqlite/store.ts";
import type { Clock, NewIds, RandomBytes, Store } from "../platform/database/store.ts";
import { StartupProblem } from "../platform/errors.ts";
import type { Config } from "../process/settings/config.ts";
import type { RedactedEntries } from "../writes/history-entry.ts";

export const systemClock: Clock = () => new Date();
export const random: RandomBytes = (count) => new Uint8Array(randomBytes(count));
const id = (bytes: number) => random(bytes).toHex();
const timeLength = 12;
/**
 * For what is made often. It begins with the time, so that an index of them grows at its end; the rest is random, from bytes
 * that Node draws for many at a time.
 */
const frequentId = () => {
  const time = Date.now().toString(16).padStart(timeLength, "0");
  return time + randomUUID().replaceAll("-", "").slice(timeLength);
};
export const newIds: NewIds = {
  event: () => `evt_${frequentId()}`,
  delivery: () => `dlv_${frequentId()}`,
  webhook: () => `wh_${id(12)}`,
  key: () => id(8),
  user: () => `usr_${id(8)}`,
  changeRequest: () => `cr_${id(8)}`,
};

/** Newest first; every instance on the same store has the same ones. */
export const secretKeysOf = ({
  database,
  secretKeys,
}: Config): readonly [Uint8Array, ...Uint8Array[]] => {
  if (database.kind === "embedded") {
    prepareFolder(database.folder);
    return secretKeysIn(database.folder, secretKeys);
  }
  const [newest, ...older] = secretKeys;
  if (!newest) throw new StartupProblem("HALYARD_SECRET_KEY must be set for PostgreSQL.");
  return [newest, ...older];
};

interface OpenOptions {
  /** Beyond so many that wait, changes and reads for requests are refused. Background work never is. */
  readonly maxWaiting?: number;
  /** Measures the calls to the database. */
  readonly observe?: ObserveCall;
}

export const openEngine = async (
  { database, mayMigrate }: Pick<Config, "database" | "mayMigrate">,
  { maxWaiting, observe }: OpenOptions = {},
): Promise<Engine> => {
  const options = { mayMigrate, maxWaiting, observe };
  if (database.kind === "embedded") return openSqliteEngine(database.folder, options);
  // Loaded only when needed, to keep the start with the embedded store fast.
  const { openPostgresEngine } = await import("../platform/database/postgres/store.ts");
  return openPostgresEngine(database, options);
};

export const openStore = async (config: Config, options?: OpenOptions): Promise<Store> => {
  const secrets = createSecretCipher(secretKeysOf(config));
  return createSqlStore(await openEngine(config, options), secrets, options?.observe);
};

/** Whether a server has been started on this database before. */
export const hasStore = async ({ database }: Config): Promise<boolean> => {
  if (database.kind === "embedded") return hasDatabase(database.folder);
  const { postgresSchemaVersion } = await import("../platform/database/postgres/start.ts");
  return (await postgresSchemaVersion(database)) > 0;
};

/** How many processes the database has connections for; each has its pool, and one that listens for changes. */
export const processesThatFit = async ({ database }: Config): Promise<number> => {
  if (database.kind === "embedded") return Number.POSITIVE_INFINITY;
  const { freeConnections } = await import("../platform/database/postgres/start.ts");
  return Math.floor((await freeConnections(database)) / (database.poolSize + 1));
};

/** What the operator's commands use, with or without a running server. */
export interface Operator {
  readonly environments: Environments;
  readonly keys: ApiKeys;
  readonly users: Users;
  readonly signInLinks: SignInLinks;
  /** Replaces a person's name and address in the history of every environment. */
  readonly redactHistory: (person: RedactedPerson) => Promise<readonly RedactedEntries[]>;
  /** Encrypts every secret with the newest key; returns how many there are. */
  readonly reencryptSecrets: Store["reencryptSecrets"];
  /** Webhooks and people whose secret was encrypted with a key that is missing. */
  readonly unreadableSecrets: () => Promise<readonly string[]>;
  /** The name of the database when all that is sent to it crosses a network unencrypted. */
  readonly unencryptedTo: string | undefined;
  close(): Promise<void>;
}

export const composeOperator = async (config: Config): Promise<Operator> => {
  const store = await openStore(config);
  const sources = { clock: systemClock, random, newIds };
  return {
    environments: createEnvironments(store, { ...sources, ...config }),
    keys: createApiKeys(store, sources),
    users: createUsers(store, sources),
    signInLinks: createSignInLinks(store, sources),
    redactHistory: (person) => redactHistory(store, person, systemClock()),
    reencryptSecrets: (choice) => store.reencryptSecrets(choice),
    unreadableSecrets: () => store.unreadableSecrets(),
    unencryptedTo: store.unencryptedTo,
    close: () => store.close(),
  };
};
