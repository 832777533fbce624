// Which store the tests run on: SQLite in a folder, or a database of PostgreSQL named after the folder.
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { migratedTemplate } from "./migrated-store.ts";
import { makeDatabase, unhurriedStatements, urlOf } from "./postgres.ts";

/** scripts/test.ts sets it by the name of the test file. */
export const onPostgres = process.env.HALYARD_TEST_STORE === "postgres";

export const databaseUrlOf = (folder: string): string => urlOf(basename(folder));

/** HALYARD_MAX_LAG: many tests share the machine, and none of them is refused for being late unless it is about that. */
export const unhurried = "0";

type Settings = Readonly<Record<string, string>>;

/** The settings that make a server use the store of this folder; the database is made when it is not there. */
export const storeSettings = async (folder: string): Promise<Settings> => {
  if (!onPostgres) return { HALYARD_DATA: folder };
  return {
    DATABASE_URL: await makeDatabase(basename(folder), migratedTemplate),
    HALYARD_SECRET_KEY: createHash("sha256").update(folder).digest("base64"),
    HALYARD_POSTGRES_TIMEOUT: unhurriedStatements,
  };
};
