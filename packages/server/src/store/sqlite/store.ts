// The embedded store: node:sqlite with one connection that writes and one that reads.
import { join } from "node:path";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { Kysely, SqliteDialect, sql } from "kysely";
import { migrate, type OnProgress } from "../schema/migrate.ts";
import type { Database, Tables } from "../schema/tables.ts";
import { createReader } from "../sql/reader.ts";
import type { Engine } from "../sql/store.ts";
import { databaseFile, openDatabase } from "./data-folder.ts";
import { adapt, WriterDialect } from "./driver.ts";
import { explainOpenError } from "./errors.ts";
import { groupCommit } from "./group-commit.ts";
import { sqliteTraits } from "./traits.ts";
import { watchVersion } from "./watch-version.ts";

export const openSqliteEngine = async (
  folder: string,
  mayMigrate: boolean,
  maxWaiting = Number.POSITIVE_INFINITY,
  onMigration?: OnProgress,
): Promise<Engine> => {
  const path = join(folder, databaseFile);
  let writer: Database | undefined;
  try {
    writer = new Kysely<Tables>({ dialect: new WriterDialect(adapt(openDatabase(path))) });
    await writer
      .transaction()
      .execute((database) => migrate(database, sqliteTraits, mayMigrate, onMigration));
    return createEngine(writer, openDatabase(path), maxWaiting);
  } catch (error) {
    await writer?.destroy();
    throw explainOpenError(error, folder, path) ?? error;
  }
};

const createEngine = (writer: Database, connection: DatabaseSync, maxWaiting: number): Engine => {
  const reader = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: adapt(connection) }),
  });
  const version = connection.prepare("pragma data_version");
  // Read very often: an array of one value is created faster than an object with one member.
  version.setReturnArrays(true);
  const dataVersion = () => Number((version.get() as unknown as SQLOutputValue[])[0]);
  const hints = watchVersion(dataVersion);
  return {
    database: reader,
    traits: sqliteTraits,
    // SQLite reads at once: only changes wait.
    reads: createReader(reader),
    committed: dataVersion,
    unencryptedTo: undefined,
    transact: groupCommit(writer, maxWaiting),
    // The writer's transaction is the only one that writes.
    asOfNow: (work) => writer.transaction().execute(work),
    transactRelaxed: (work) =>
      writer.connection().execute(async (connection) => {
        await sql`pragma synchronous = normal`.execute(connection);
        try {
          return await connection.transaction().execute(work);
        } finally {
          await sql`pragma synchronous = full`.execute(connection);
        }
      }),
    onHint: hints.listen,
    async close() {
      hints.stop();
      await reader.destroy();
      // Kysely does not close a connection that was never used.
      if (connection.isOpen) connection.close();
      await writer.destroy();
    },
  };
};
