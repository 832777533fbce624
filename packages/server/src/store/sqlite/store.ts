// The embedded store: node:sqlite with one connection that writes and one that reads.
import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
  sql,
} from "kysely";
import { StartupProblem, StoreUnavailable } from "../../errors.ts";
import type { Store } from "../../ports.ts";
import type { DatabaseTraits } from "../schema/dialect.ts";
import { migrate } from "../schema/migrate.ts";
import type { Tables } from "../schema/tables.ts";
import type { SecretCipher } from "../secrets/secret-cipher.ts";
import { createReader } from "../sql/reader.ts";
import { createSqlStore, type Engine } from "../sql/store.ts";
import { groupCommit } from "./group-commit.ts";
import { watchVersion } from "./watch-version.ts";

/** How long a transaction waits for the lock of another process, and how often it looks. */
const lockPatience = 5_000;
const lockPause = 10;
/** SQLite itself waits without letting anything else happen: only so long. */
const busyTimeout = 20;
const maxPrepared = 500;

const traits: DatabaseTraits = {
  bytes: sql`blob`,
  text: sql`text`,
  withIdentity: (table, name) =>
    table.addColumn(name, "integer", (column) => column.primaryKey().autoIncrement()),
  givenIdentity: sql``,
  // SQLite remembers the highest number itself.
  countOn: () => Promise.resolve(),
  // A transaction that writes is alone from its beginning to its end.
  locked: (query) => query,
  lockedIfFree: (query) => query,
  kept: (query) => query,
  locksRows: false,
  alone: () => Promise.resolve(),
  // Whoever listens looks at the data version.
  notify: () => Promise.resolve(),
};

/** SQLite's primary result codes for "not now": busy, locked, read-only, I/O error, full, cannot open. */
const passing = new Set([5, 6, 8, 10, 13, 14]);
const busy = 5;
/** Not a database at all, or a damaged one. */
const damaged = new Set([11, 26]);

const resultCode = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : undefined;

const guarded = <T>(work: () => T): T => {
  try {
    return work();
  } catch (error) {
    const code = resultCode(error);
    if (code !== undefined && passing.has(code)) {
      throw new StoreUnavailable(
        `The embedded database cannot be used just now: ${message(error)}.`,
        {
          cause: error,
        },
      );
    }
    throw error;
  }
};

const message = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** What Kysely expects of a SQLite driver, with each text prepared once. */
export const adapt = (database: DatabaseSync): SqliteDatabase => {
  const prepared = new Map<string, SqliteStatement>();
  const prepare = (text: string): SqliteStatement => {
    const statement = guarded(() => database.prepare(text));
    const inputs = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
    return {
      reader: statement.columns().length > 0,
      all: (parameters) => guarded(() => statement.all(...inputs(parameters))),
      run: (parameters) => guarded(() => statement.run(...inputs(parameters))),
      iterate: (parameters) => statement.iterate(...inputs(parameters)),
    };
  };
  return {
    close: () => database.close(),
    prepare(text) {
      const known = prepared.get(text);
      if (known) return known;
      const statement = prepare(text);
      prepared.set(text, statement);
      if (prepared.size > maxPrepared) {
        const [oldest] = prepared.keys();
        if (oldest !== undefined) prepared.delete(oldest);
      }
      return statement;
    },
  };
};

/** Takes the write lock at the start, so that a transaction never fails halfway because another process wrote. */
class WriterDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const givesUpAt = performance.now() + lockPatience;
    for (;;) {
      try {
        await connection.executeQuery(CompiledQuery.raw("begin immediate"));
        return;
      } catch (error) {
        const isBusy = error instanceof StoreUnavailable && resultCode(error.cause) === busy;
        if (!isBusy || performance.now() > givesUpAt) throw error;
        await setTimeout(lockPause);
      }
    }
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(connection);
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full: what counts is why.
    }
  }
}

class WriterDialect extends SqliteDialect {
  readonly #database: SqliteDatabase;
  constructor(database: SqliteDatabase) {
    super({ database });
    this.#database = database;
  }
  override createDriver(): SqliteDriver {
    return new WriterDriver({ database: this.#database });
  }
}

/**
 * Made for its owner only; SQLite gives the files beside it the same rights. One that is there is not opened: closing it
 * would take away the locks that this process has on it, and an older SQLite would then remove the log of a running server.
 */
const makeFile = (path: string): void => {
  try {
    closeSync(openSync(path, "ax", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
};

const open = (path: string): DatabaseSync => {
  makeFile(path);
  const database = new DatabaseSync(path, {
    timeout: busyTimeout,
    enableForeignKeyConstraints: true,
  });
  database.exec("pragma journal_mode = wal");
  database.exec("pragma synchronous = full");
  // Room for a backlog's pages (KiB), and fewer, larger moves from the log to the file (pages).
  database.exec("pragma cache_size = -32768");
  database.exec("pragma wal_autocheckpoint = 8000");
  database.exec("pragma temp_store = memory");
  return database;
};

const explain = (error: unknown, folder: string, path: string): Error | undefined => {
  if (error instanceof StartupProblem) return error;
  const code = resultCode(error) ?? resultCode((error as { cause?: unknown }).cause);
  if (code !== undefined && damaged.has(code)) {
    return new StartupProblem(
      `The database ${path} is damaged or is not a Halyard database (${message(error)}): restore a backup, or move the file away to start with an empty one.`,
    );
  }
  if (code === busy) {
    return new StoreUnavailable(
      `The database ${path} is locked by another program: try again when it is done.`,
      { cause: error },
    );
  }
  const isFileProblem = error instanceof Error && "syscall" in error;
  if (isFileProblem || (code !== undefined && passing.has(code))) {
    return new StartupProblem(
      `The database ${path} cannot be opened for writing (${message(error)}): check that the folder ${folder} belongs to the user that runs Halyard and that the disk is not full.`,
    );
  }
  return undefined;
};

/** One folder after the other: Node's own way hangs below folders such as /proc. */
export const makeFolder = (folder: string): void => {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process that starts at the same moment was faster.
    if (!existsSync(folder)) throw error;
  }
};

/** Makes the data folder when it is missing. */
export const prepareFolder = (folder: string): void => {
  try {
    makeFolder(folder);
  } catch (error) {
    throw new StartupProblem(
      `The data folder ${folder} cannot be made (${message(error)}): choose another with HALYARD_DATA, or give the user that runs Halyard the right to write there.`,
    );
  }
};

export const databaseFile = "halyard.db";
export const hasDatabase = (folder: string): boolean => existsSync(join(folder, databaseFile));

/** 0 when there is none. */
export const sqliteSchemaVersion = (folder: string): number => {
  if (!hasDatabase(folder)) return 0;
  const database = new DatabaseSync(join(folder, databaseFile), { readOnly: true });
  try {
    const table = database.prepare("select 1 from sqlite_schema where name = 'schema_version'");
    if (!table.get()) return 0;
    return Number(database.prepare("select version from schema_version").get()?.version ?? 0);
  } finally {
    database.close();
  }
};

export const openSqliteStore = async (
  folder: string,
  secrets: SecretCipher,
  mayMigrate = true,
): Promise<Store> => createSqlStore(await openSqliteEngine(folder, mayMigrate), secrets);

export const openSqliteEngine = async (folder: string, mayMigrate: boolean): Promise<Engine> => {
  const path = join(folder, databaseFile);
  let writer: Kysely<Tables> | undefined;
  try {
    writer = new Kysely<Tables>({ dialect: new WriterDialect(adapt(open(path))) });
    await writer.transaction().execute((database) => migrate(database, traits, mayMigrate));
    const connection = open(path);
    const version = connection.prepare("pragma data_version");
    // A list of one value is made faster than an object with one name, and this is asked all the time.
    version.setReturnArrays(true);
    const reader = new Kysely<Tables>({
      dialect: new SqliteDialect({ database: adapt(connection) }),
    });
    const dataVersion = () => Number((version.get() as unknown as SQLOutputValue[])[0]);
    return createEngine(reader, writer, dataVersion, connection);
  } catch (error) {
    await writer?.destroy();
    throw explain(error, folder, path) ?? error;
  }
};

const createEngine = (
  reader: Kysely<Tables>,
  writer: Kysely<Tables>,
  dataVersion: () => number,
  connection: DatabaseSync,
): Engine => {
  const hints = watchVersion(dataVersion);
  return {
    database: reader,
    traits,
    reads: createReader(reader),
    committed: dataVersion,
    transact: groupCommit(writer),
    // Nobody else writes meanwhile.
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
      // Kysely leaves one open that nobody has asked for anything.
      if (connection.isOpen) connection.close();
      await writer.destroy();
    },
  };
};
