// The start on PostgreSQL: checks the server and migrates the schema.
import type { ConnectionOptions } from "node:tls";
import { Client } from "pg";
import { StartupProblem, StoreUnavailable } from "../../errors.ts";
import { type MigrationOptions, migrate, migrations } from "../schema/migrate.ts";
import { clientSettings, type PostgresSettings, tlsOptions } from "./connection.ts";
import { codeOf, messageOf, toStoreError } from "./errors.ts";
import { PipelinedTransaction, postgresOn } from "./pipeline.ts";
import { advisoryLock, postgresDialect } from "./traits.ts";

const oldestVersion = 15;

const explain = ({ name }: PostgresSettings, error: unknown): Error => {
  if (error instanceof StartupProblem) return error;
  const said = messageOf(error);
  switch (codeOf(error)) {
    case "28P01":
    case "28000":
      return new StartupProblem(
        `PostgreSQL at ${name} rejects the user or the password (${said}): check DATABASE_URL or PGPASSWORD.`,
      );
    case "3D000":
      return new StartupProblem(
        `PostgreSQL at ${name} has no such database (${said}): create it, or use another in DATABASE_URL.`,
      );
    case "42501":
      return new StartupProblem(
        `The user of DATABASE_URL lacks a privilege in ${name} (${said}): allow it to create tables in its schema, or start Halyard once as a user who may.`,
      );
    case "25006":
      return new StartupProblem(
        `PostgreSQL at ${name} is read-only (${said}): use the primary in DATABASE_URL, not a standby.`,
      );
    default: {
      const sentence = `PostgreSQL at ${name} cannot be used: ${said}.`;
      return toStoreError(error) instanceof StoreUnavailable
        ? new StoreUnavailable(sentence, { cause: error })
        : new StartupProblem(sentence);
    }
  }
};

/** A migration has no time limit. */
const withoutLimits = { statement_timeout: 0, query_timeout: 0, lock_timeout: 0 };

const connect = async (
  settings: PostgresSettings,
  ssl: ConnectionOptions | false,
): Promise<Client> => {
  const client = new Client({ ...clientSettings(settings, ssl), ...withoutLimits });
  client.on("error", () => {});
  await client.connect();
  return client;
};

const withoutTls = "The server does not support SSL connections";

/** Connects, and returns the TLS options that worked. */
const connectFirst = async (
  settings: PostgresSettings,
): Promise<{ client: Client; ssl: ConnectionOptions | false }> => {
  const ssl = tlsOptions(settings);
  try {
    return { client: await connect(settings, ssl), ssl };
  } catch (error) {
    const mayUsePlain = settings.tls.mode === "prefer" && messageOf(error) === withoutTls;
    if (!mayUsePlain) throw error;
    return { client: await connect(settings, false), ssl: false };
  }
};

const checkServer = async (client: Client, { name }: PostgresSettings): Promise<void> => {
  const { rows } = await client.query<{ version: number; shown: string; encoding: string }>(
    `select current_setting('server_version_num')::int as version,
       current_setting('server_version') as shown, current_setting('server_encoding') as encoding`,
  );
  const [server] = rows;
  if (!server) return;
  if (server.version < oldestVersion * 10_000) {
    throw new StartupProblem(
      `PostgreSQL at ${name} is version ${server.shown}, but Halyard needs ${oldestVersion} or newer.`,
    );
  }
  if (server.encoding !== "UTF8") {
    throw new StartupProblem(
      `The database ${name} has the encoding ${server.encoding}, but Halyard needs UTF8.`,
    );
  }
};

/** 0 when there is no schema. */
export const schemaVersion = async (client: Client): Promise<number> => {
  const { rows } = await client.query<{ found: string | null }>(
    "select to_regclass('schema_version')::text as found",
  );
  if (!rows[0]?.found) return 0;
  const version = await client.query<{ version: number }>("select version from schema_version");
  return version.rows[0]?.version ?? 0;
};

const migrateSchema = async (client: Client, options: MigrationOptions): Promise<void> => {
  const transaction = new PipelinedTransaction(client, ["begin"]);
  const database = postgresOn((consumer) => consumer(transaction));
  try {
    await advisoryLock("migration").execute(database);
    await migrate(database, postgresDialect, options);
    await transaction.commit();
  } catch (error) {
    if (!transaction.commitSent) await transaction.rollback();
    throw error;
  }
};

/** Uses one connection once; errors become sentences for the operator. */
export const withFirstClient = async <T>(
  settings: PostgresSettings,
  use: (client: Client, ssl: ConnectionOptions | false) => Promise<T>,
): Promise<T> => {
  try {
    const { client, ssl } = await connectFirst(settings);
    try {
      await checkServer(client, settings);
      return await use(client, ssl);
    } finally {
      await client.end();
    }
  } catch (error) {
    throw explain(settings, error);
  }
};

/** Creates or migrates the schema; returns the TLS options that all further connections use. */
export const openSchema = (
  settings: PostgresSettings,
  options: MigrationOptions,
): Promise<ConnectionOptions | false> =>
  withFirstClient(settings, async (client, ssl) => {
    // A user who may only read and write can start Halyard on a schema that is up to date.
    const newest = (options.migrations ?? migrations).length;
    if ((await schemaVersion(client)) !== newest) await migrateSchema(client, options);
    return ssl;
  });

/** 0 when there is no schema. */
export const postgresSchemaVersion = (settings: PostgresSettings): Promise<number> =>
  withFirstClient(settings, schemaVersion);

/** How many more connections the server and the database allow. */
export const freeConnections = (settings: PostgresSettings): Promise<number> =>
  withFirstClient(settings, async (client) => {
    const { rows } = await client.query<{ free: number }>(
      `select least(
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
           - (select sum(numbackends) from pg_stat_database),
         case when datconnlimit >= 0 then datconnlimit
           - (select numbackends from pg_stat_database where datname = current_database()) end
       )::int as free from pg_database where datname = current_database()`,
    );
    return rows[0]?.free ?? 0;
  });

/** How many processes of Halyard use this database: each listens for the changes of the others. */
export const listeningInstances = async (client: Client): Promise<number> => {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name = 'halyard' and query ilike 'listen %'`,
  );
  return rows[0]?.count ?? 0;
};

export const countInstances = (settings: PostgresSettings): Promise<number> =>
  withFirstClient(settings, listeningInstances);
