// The data folder and the database file in it.
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StartupProblem } from "../../errors.ts";
import { messageOf } from "./errors.ts";

/** Milliseconds that SQLite itself waits for a lock. The process does nothing else meanwhile, so they are few. */
const busyTimeout = 20;

export const databaseFile = "halyard.db";
export const hasDatabase = (folder: string): boolean => existsSync(join(folder, databaseFile));

/** Creates one folder after the other: Node's recursive option hangs below folders such as /proc. */
export const makeFolder = (folder: string): void => {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process that starts at the same moment may have created it.
    if (!existsSync(folder)) throw error;
  }
};

/** Creates the data folder when it is missing. */
export const prepareFolder = (folder: string): void => {
  try {
    makeFolder(folder);
  } catch (error) {
    throw new StartupProblem(
      `The data folder ${folder} cannot be created (${messageOf(error)}): choose another with HALYARD_DATA, or give the user that runs Halyard the right to write there.`,
    );
  }
};

/**
 * Readable by its owner only; SQLite gives the files beside it the same rights. An existing file is not opened: closing it
 * would release the locks that this process has on it, and an older SQLite would then remove the log of a running server.
 */
const makeFile = (path: string): void => {
  try {
    closeSync(openSync(path, "ax", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
};

/** Functions with side effects cannot be called by what somebody may have put into the schema: triggers, views, defaults. */
export const distrustSchema = (database: DatabaseSync): DatabaseSync => {
  database.exec("pragma trusted_schema = off");
  return database;
};

export const openDatabase = (path: string): DatabaseSync => {
  makeFile(path);
  const database = new DatabaseSync(path, {
    timeout: busyTimeout,
    enableForeignKeyConstraints: true,
  });
  distrustSchema(database);
  database.exec("pragma journal_mode = wal");
  database.exec("pragma synchronous = full");
  // Room for a backlog's pages (KiB), and fewer, larger checkpoints (pages).
  database.exec("pragma cache_size = -32768");
  database.exec("pragma wal_autocheckpoint = 8000");
  database.exec("pragma temp_store = memory");
  return database;
};

/** 0 when there is no database. */
export const sqliteSchemaVersion = (folder: string): number => {
  if (!hasDatabase(folder)) return 0;
  const database = new DatabaseSync(join(folder, databaseFile), { readOnly: true });
  try {
    distrustSchema(database);
    const table = database.prepare("select 1 from sqlite_schema where name = 'schema_version'");
    if (!table.get()) return 0;
    return Number(database.prepare("select version from schema_version").get()?.version ?? 0);
  } finally {
    database.close();
  }
};
