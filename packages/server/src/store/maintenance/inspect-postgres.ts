// Inspects a PostgreSQL server and its database without changing anything.

import type { PostgresSettings } from "../postgres/connection.ts";
import { schemaVersion, withFirstClient } from "../postgres/start.ts";
import { openPostgresEngine } from "../postgres/store.ts";
import { migrations } from "../schema/migrate.ts";
import type { SecretCipher } from "../secrets/secret-cipher.ts";
import { type Inspected, inspectRows } from "./inspect.ts";

export interface InspectedServer {
  readonly kind: "postgres";
  readonly name: string;
  readonly version: string;
  /** Milliseconds by which its clock is ahead of this machine's. */
  readonly clockAhead: number;
  /** Connections for ordinary users. */
  readonly connections: number;
  /** Halyard processes connected to this database: each listens on one connection. */
  readonly instances: number;
  readonly schemaVersion: number;
  readonly newestSchemaVersion: number;
  /** Undefined when the schema has another version. */
  readonly rows: Inspected | undefined;
}

/** Throws StartupProblem when the server cannot be reached or is not suitable. */
export const inspectPostgres = async (
  settings: PostgresSettings,
  secrets: SecretCipher | undefined,
): Promise<InspectedServer> => {
  const server = await withFirstClient(settings, async (client) => {
    const asked = Date.now();
    const { rows } = await client.query<{ version: string; now: number; connections: number }>(
      `select current_setting('server_version') as version,
         (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as connections`,
    );
    const halfway = (asked + Date.now()) / 2;
    const listening = await client.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and application_name = 'halyard' and query ilike 'listen %'`,
    );
    return {
      version: rows[0]?.version ?? "",
      clockAhead: Math.round((rows[0]?.now ?? halfway) - halfway),
      connections: rows[0]?.connections ?? 0,
      instances: listening.rows[0]?.count ?? 0,
      schemaVersion: await schemaVersion(client),
    };
  });
  return {
    kind: "postgres",
    name: settings.name,
    ...server,
    newestSchemaVersion: migrations.length,
    rows: server.schemaVersion === migrations.length ? await rowsOf(settings, secrets) : undefined,
  };
};

const rowsOf = async (
  settings: PostgresSettings,
  secrets: SecretCipher | undefined,
): Promise<Inspected> => {
  const engine = await openPostgresEngine({ ...settings, poolSize: 2 }, false);
  try {
    return await inspectRows(engine.database, secrets);
  } finally {
    await engine.close();
  }
};
