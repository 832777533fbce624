// Inspects a PostgreSQL server and its database without changing anything.

import { isUnencrypted, type PostgresSettings } from "../postgres/connection.ts";
import { listeningInstances, schemaVersion, withFirstClient } from "../postgres/start.ts";
import { openPostgresEngine } from "../postgres/store.ts";
import { migrations } from "../schema/migrate.ts";
import type { SecretCipher } from "../secrets/secret-cipher.ts";
import { type Inspected, inspectRows } from "./inspect.ts";
import { ownTables, type SchemaDifference } from "./schema-differences.ts";

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
  /** What in the schema is not Halyard's. */
  readonly differences: readonly SchemaDifference[];
  readonly schemaVersion: number;
  readonly newestSchemaVersion: number;
  /** Whether all that is sent to it crosses a network unencrypted. */
  readonly unencrypted: boolean;
  /** Undefined when the schema has another version. */
  readonly rows: Inspected | undefined;
}

/** Throws StartupProblem or StoreUnavailable when the server cannot be reached or is not suitable. */
export const inspectPostgres = async (
  settings: PostgresSettings,
  secrets: SecretCipher | undefined,
): Promise<InspectedServer> => {
  const server = await withFirstClient(settings, async (client, ssl) => {
    const asked = Date.now();
    const { rows } = await client.query<{ version: string; now: number; connections: number }>(
      `select current_setting('server_version') as version,
         (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
         current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as connections`,
    );
    const halfway = (asked + Date.now()) / 2;
    return {
      version: rows[0]?.version ?? "",
      clockAhead: Math.round((rows[0]?.now ?? halfway) - halfway),
      connections: rows[0]?.connections ?? 0,
      instances: await listeningInstances(client),
      schemaVersion: await schemaVersion(client),
      differences: await differencesIn(client),
      unencrypted: isUnencrypted(settings, ssl),
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

type Client = Parameters<typeof schemaVersion>[0];

/** Tables and views beside ours, and what acts on ours: triggers and rules. What belongs to an extension is left out. */
const differencesIn = async (client: Client): Promise<SchemaDifference[]> => {
  const { rows } = await client.query<Omit<SchemaDifference, "kind">>(
    `with relations as (
       select c.oid, c.relname as name, case when c.relkind in ('v', 'm') then 'view' else 'table' end as type
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = current_schema() and c.relkind in ('r', 'p', 'f', 'v', 'm')
         and not exists (select from pg_depend d
           where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'))
     select type, name, name as table from relations
     union all
     select 'trigger', t.tgname, r.name from pg_trigger t join relations r on r.oid = t.tgrelid where not t.tgisinternal
     union all
     select 'rule', w.rulename, r.name from pg_rewrite w join relations r on r.oid = w.ev_class where r.type = 'table'
     order by 1, 2`,
  );
  const own = await ownTables();
  // Without any of ours it is an empty database, or another one.
  if (!rows.some(({ name }) => own.has(name))) return [];
  return rows
    .filter(({ type, name, table }) =>
      type === "trigger" || type === "rule" ? own.has(table) : !own.has(name),
    )
    .map((found) => ({ kind: "foreign", ...found }));
};

const rowsOf = async (
  settings: PostgresSettings,
  secrets: SecretCipher | undefined,
): Promise<Inspected> => {
  const engine = await openPostgresEngine({ ...settings, poolSize: 2 }, { mayMigrate: false });
  try {
    return await inspectRows(engine.database, secrets);
  } finally {
    await engine.close();
  }
};
