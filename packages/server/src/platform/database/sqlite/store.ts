// The embedded store: node:sqlite with one connection that writes and one that reads.
import { join } from "node:path";
import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { createReader } from "../reader.ts";
import { type EngineOptions, migrate } from "../schema/migrate.ts";
import type { Engine } from "../sql-store.ts";
import { databaseFile, openDatabase } from "./data-folder.ts";
import { createWriter, sqliteOn, type Writer } from "./driver.ts";
import { explainOpenError } from "./errors.ts";
import { sqliteDialect } from "./traits.ts";
import { watchVersion } from "./watch-version.ts";

export const openSqliteEngine = async (folder: string, options: EngineOptions): Promise<Engine> => {
  const path = join(folder, databaseFile);
  let writing: DatabaseSync | undefined;
  try {
    writing = openDatabase(path);
    const writer = createWriter(writing);
    await writer.transact((database) => migrate(database, sqliteDialect, options));
    return createEngine(writing, writer, openDatabase(path), options);
  } catch (error) {
    writing?.close();
    throw explainOpenError(error, folder, path) ?? error;
  }
};

const createEngine = (
  writing: DatabaseSync,
  writer: Writer,
  connection: DatabaseSync,
  { maxWaiting = Number.POSITIVE_INFINITY, observe }: EngineOptions,
): Engine => {
  const reader = sqliteOn(connection, observe);
  const version = connection.prepare("pragma data_version");
  // Read very often: an array of one value is created faster than an object with one member.
  version.setReturnArrays(true);
  const dataVersion = () => Number((version.get() as unknown as SQLOutputValue[])[0]);
  const hints = watchVersion(dataVersion);
  return {
    database: reader,
    databaseForRequests: reader,
    dialect: sqliteDialect,
    // SQLite reads at once: only changes wait.
    reads: createReader(reader),
    committed: dataVersion,
    unencryptedTo: undefined,
    transact: writer.transact,
    locksAll: true,
    maxWaiting,
    // The writer's transaction is the only one that writes.
    repeatableRead: writer.transact,
    transactAsyncCommit: writer.transactAsyncCommit,
    onHint: hints.listen,
    async close() {
      hints.stop();
      for (const each of [connection, writing]) if (each.isOpen) each.close();
    },
  };
};
