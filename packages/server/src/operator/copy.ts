// The composition root of commands on whole databases: migrate and copy.
import { join } from "node:path";
import {
  type CopiedRows,
  type CopyWatch,
  copyStore,
} from "../platform/database/maintenance/copy.ts";
import { isDatabaseInUse } from "../platform/database/maintenance/exclusive-lock.ts";
import { migrations } from "../platform/database/schema/migrate.ts";
import { createSecretCipher } from "../platform/database/secrets/secret-cipher.ts";
import { databaseFile, sqliteSchemaVersion } from "../platform/database/sqlite/data-folder.ts";
import { conflict, fail, type Result } from "../platform/errors.ts";
import type { Config } from "../process/settings/config.ts";
import { openEngine, secretKeysOf } from "./operator.ts";

/** The schema's version; 0 when there is none. */
const schemaVersion = async ({ database }: Config): Promise<number> => {
  if (database.kind === "embedded") return sqliteSchemaVersion(database.folder);
  const { postgresSchemaVersion } = await import("../platform/database/postgres/start.ts");
  return postgresSchemaVersion(database);
};

/** The database for display. */
export const nameOf = ({ database }: Config): string =>
  database.kind === "embedded" ? database.folder : database.name;

export interface Migrated {
  readonly before: number;
  readonly after: number;
}

/** The schema's version, and the one that this Halyard would migrate it to. */
export const pendingMigrations = async (config: Config): Promise<Migrated> => ({
  before: await schemaVersion(config),
  after: migrations.length,
});

export const migrateDatabase = async (config: Config): Promise<Migrated> => {
  const before = await schemaVersion(config);
  // Creates the folder and the key file of an embedded store, as the server would.
  secretKeysOf(config);
  const engine = await openEngine({ ...config, mayMigrate: true });
  await engine.close();
  return { before, after: migrations.length };
};

const isInUse = async ({ database }: Config): Promise<boolean> => {
  if (database.kind === "embedded") return isDatabaseInUse(join(database.folder, databaseFile));
  const { countInstances } = await import("../platform/database/postgres/start.ts");
  return (await countInstances(database)) > 0;
};

export interface CopyChoice {
  /** Copy even though a server is using the source. */
  readonly force: boolean;
  readonly watch: CopyWatch;
}

/** All or nothing: a copy that differs from the original is rolled back. */
export const copyDatabase = async (
  from: Config,
  to: Config,
  { force, watch }: CopyChoice,
): Promise<Result<CopiedRows>> => {
  if ((await schemaVersion(from)) === 0) {
    return fail({
      code: "NOT_FOUND",
      message: `There is no Halyard database in ${nameOf(from)} to copy from.`,
    });
  }
  if (!force && (await isInUse(from))) {
    return conflict(
      `${nameOf(from)} is in use by a server or another command, whose changes from now on would not be copied: stop it first, or add --force. Nothing was copied.`,
    );
  }
  const fromSecrets = createSecretCipher(secretKeysOf(from));
  const toSecrets = createSecretCipher(secretKeysOf(to));
  const source = await openEngine({ ...from, mayMigrate: true });
  try {
    const target = await openEngine({ ...to, mayMigrate: true });
    try {
      return await source.repeatableRead((original) =>
        target.transact((copy) =>
          copyStore(
            { database: original, dialect: source.dialect, secrets: fromSecrets },
            { database: copy, dialect: target.dialect, secrets: toSecrets },
            watch,
          ),
        ),
      );
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
};
