// An empty embedded store of an older version of the schema.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createSchema } from "../../src/store/schema/migrate.ts";
import { sqliteOn } from "../../src/store/sqlite/driver.ts";
import { sqliteTraits } from "../../src/store/sqlite/traits.ts";

/** The folder must not exist yet. */
export const makeOldStore = async (folder: string, version: number): Promise<void> => {
  mkdirSync(folder, { mode: 0o700 });
  const connection = new DatabaseSync(join(folder, "halyard.db"));
  const database = sqliteOn(connection);
  await createSchema(database, sqliteTraits, version);
  await database.insertInto("schema_version").values({ version }).execute();
  connection.close();
};
