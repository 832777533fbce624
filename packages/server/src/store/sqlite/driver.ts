// Kysely on node:sqlite.
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import {
  CompiledQuery,
  type DatabaseConnection,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
} from "kysely";
import { guarded, isBusy } from "./errors.ts";

/** Milliseconds that a transaction waits for the write lock of another process, and how often it tries. */
const lockTimeout = 5_000;
const lockRetryPause = 10;
const maxPrepared = 500;

/** What Kysely expects of a SQLite driver. Each statement is prepared once. */
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
    const deadline = performance.now() + lockTimeout;
    for (;;) {
      try {
        await connection.executeQuery(CompiledQuery.raw("begin immediate"));
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error;
        await setTimeout(lockRetryPause);
      }
    }
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      await super.rollbackTransaction(connection);
    } catch {
      // SQLite rolls back by itself, for example when the disk is full. The error that caused it is the one to report.
    }
  }
}

export class WriterDialect extends SqliteDialect {
  readonly #database: SqliteDatabase;
  constructor(database: SqliteDatabase) {
    super({ database });
    this.#database = database;
  }
  override createDriver(): SqliteDriver {
    return new WriterDriver({ database: this.#database });
  }
}
