// Brings the schema up to date, one numbered migration after the other, in one transaction.

import { StartupProblem } from "../../errors.ts";
import type { Dialect } from "./dialect.ts";
import type { ObserveCall } from "./kysely-on.ts";
import type { Migration } from "./migration.ts";
import { schema } from "./migrations/0001-schema.ts";
import type { Database } from "./tables.ts";

/** The first one creates version 1. */
export const migrations: readonly Migration[] = [schema];

export interface MigrationOptions {
  /** Without it, a schema that is not up to date is an error. */
  readonly mayMigrate: boolean;
  /** Those of this Halyard, unless a test brings its own. */
  readonly migrations?: readonly Migration[] | undefined;
}

/** How an engine opens its database. */
export interface EngineOptions extends MigrationOptions {
  /** Requests that may wait for the database. */
  readonly maxWaiting?: number | undefined;
  /** Measures reads outside transactions. */
  readonly observe?: ObserveCall | undefined;
}

const createVersionTable = (database: Database): Promise<void> =>
  database.schema
    .createTable("schema_version")
    .ifNotExists()
    .addColumn("version", "integer", (column) => column.notNull())
    .execute();

/** The schema of a version in an empty database, to compare others with. */
export const createSchema = async (
  database: Database,
  dialect: Dialect,
  version: number,
  all: readonly Migration[] = migrations,
): Promise<void> => {
  await createVersionTable(database);
  for (const migration of all.slice(0, version)) await migration(database, dialect);
};

/** Call it inside a transaction that no second process can enter at the same time. */
export const migrate = async (
  database: Database,
  dialect: Dialect,
  { mayMigrate, migrations: all = migrations }: MigrationOptions,
): Promise<void> => {
  await createVersionTable(database);
  const row = await database.selectFrom("schema_version").select("version").executeTakeFirst();
  const present = row?.version ?? 0;
  if (present > all.length) {
    throw new StartupProblem(
      `The database has schema version ${present}, but this version of Halyard knows only up to ${all.length}: start the newer Halyard that wrote it, or restore a backup from before the upgrade.`,
    );
  }
  if (present === all.length) return;
  if (!mayMigrate) {
    throw new StartupProblem(
      `The database has schema version ${present} and this version of Halyard needs ${all.length}, but HALYARD_MIGRATE is off: run \`halyard migrate\` first.`,
    );
  }
  for (const migration of all.slice(present)) await migration(database, dialect);
  if (row) await database.updateTable("schema_version").set({ version: all.length }).execute();
  else await database.insertInto("schema_version").values({ version: all.length }).execute();
};
