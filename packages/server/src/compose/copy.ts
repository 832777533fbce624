// The composition root of commands on whole databases: migrate and copy.

import type { Config } from "../config/config.ts";
import { fail, ok, type Result } from "../errors.ts";
import { type CopiedRows, type CopyWatch, copyStore } from "../store/maintenance/copy.ts";
import { migrations } from "../store/schema/migrate.ts";
import { createSecretCipher } from "../store/secrets/secret-cipher.ts";
import { sqliteSchemaVersion } from "../store/sqlite/data-folder.ts";
import { openEngine, secretKeysOf } from "./operator.ts";

/** The schema's version; 0 when there is none. */
const schemaVersion = async ({ database }: Config): Promise<number> => {
  if (database.kind === "embedded") return sqliteSchemaVersion(database.folder);
  const { postgresSchemaVersion } = await import("../store/postgres/start.ts");
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

/** All or nothing: a copy that differs from the original is rolled back. */
export const copyDatabase = async (
  from: Config,
  to: Config,
  watch: CopyWatch,
): Promise<Result<CopiedRows>> => {
  if ((await schemaVersion(from)) === 0) {
    return fail({
      code: "NOT_FOUND",
      message: `There is no Halyard database in ${nameOf(from)} to copy from.`,
    });
  }
  const fromSecrets = createSecretCipher(secretKeysOf(from));
  const toSecrets = createSecretCipher(secretKeysOf(to));
  const source = await openEngine({ ...from, mayMigrate: true });
  try {
    const target = await openEngine({ ...to, mayMigrate: true });
    try {
      const rows = await source.asOfNow((original) =>
        target.transact((copy) =>
          copyStore(
            { database: original, traits: source.traits, secrets: fromSecrets },
            { database: copy, traits: target.traits, secrets: toSecrets },
            watch,
          ),
        ),
      );
      return ok(rows);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
};
