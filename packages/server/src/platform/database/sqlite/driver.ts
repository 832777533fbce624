// Kysely on node:sqlite: queries run at once, and each statement is prepared once.
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { type CompiledQuery, type QueryResult, SqliteDialect } from "kysely";
import { kyselyOn, type ObserveCall } from "../schema/kysely-on.ts";
import type { Database, Transact } from "../schema/tables.ts";
import { guarded, isBusy } from "./errors.ts";

/** Milliseconds that a transaction waits for the write lock of another process, and how often it tries. */
const lockTimeout = 5_000;
const lockRetryPause = 10;
const maxPrepared = 500;

interface Prepared {
  readonly statement: StatementSync;
  /** Of the rows that it gives; none for a statement that only writes. */
  readonly columns: readonly string[];
}

/** Objects of Node's own making have a hidden class each, so that reading a member takes longer than reading the row. */
const rowOf = (columns: readonly string[], values: readonly SQLOutputValue[]): object => {
  const row: Record<string, SQLOutputValue | undefined> = {};
  for (let index = 0; index < columns.length; index += 1) {
    row[columns[index] as string] = values[index];
  }
  return row;
};

const createPrepare = (database: DatabaseSync): ((text: string) => Prepared) => {
  const prepared = new Map<string, Prepared>();
  return (text) => {
    const known = prepared.get(text);
    if (known) return known;
    const statement = database.prepare(text);
    statement.setReturnArrays(true);
    const made = { statement, columns: statement.columns().map(({ name }) => name) };
    prepared.set(text, made);
    if (prepared.size > maxPrepared) {
      const [oldest] = prepared.keys();
      if (oldest !== undefined) prepared.delete(oldest);
    }
    return made;
  };
};

const bind = kyselyOn(
  new SqliteDialect({ database: () => Promise.reject(new Error("Connections are provided.")) }),
);

export const sqliteOn = (database: DatabaseSync, observe?: ObserveCall): Database => {
  const prepare = createPrepare(database);
  const run = <R>({ sql: text, parameters }: CompiledQuery): QueryResult<R> => {
    const { statement, columns } = prepare(text);
    const inputs = parameters as SQLInputValue[];
    if (columns.length > 0) {
      const rows = statement.all(...inputs) as unknown as SQLOutputValue[][];
      return { rows: rows.map((values) => rowOf(columns, values) as R) };
    }
    const { changes } = statement.run(...inputs);
    return { rows: [], numAffectedRows: BigInt(changes) };
  };
  return bind(
    (consumer) =>
      consumer({
        executeQuery: async (query) => guarded(() => run(query)),
        async send(query) {
          guarded(() => run(query));
        },
        streamQuery: () => {
          throw new Error("Rows are not streamed.");
        },
      }),
    observe,
  );
};

export interface Writer {
  readonly transact: Transact;
  /** May be lost when the machine stops. */
  readonly transactAsyncCommit: Transact;
}

/** One transaction after the other on the connection that writes. */
export const createWriter = (connection: DatabaseSync): Writer => {
  const database = sqliteOn(connection);
  const statement = (text: string): (() => void) => {
    const one = connection.prepare(text);
    return () => guarded(() => one.run());
  };
  const begin = statement("begin immediate");
  const commit = statement("commit");

  /** Takes the write lock, so that a transaction never fails halfway because another process wrote; false while another has it. */
  const begins = (deadline: number): boolean => {
    try {
      begin();
      return true;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      return false;
    }
  };

  const rollback = (): void => {
    try {
      connection.exec("rollback");
    } catch {
      // SQLite rolls back by itself, for example when the disk is full. The error that caused it is the one to report.
    }
  };

  const run: Transact = async (callback) => {
    const deadline = performance.now() + lockTimeout;
    while (!begins(deadline)) await setTimeout(lockRetryPause);
    try {
      const value = await callback(database);
      commit();
      return value;
    } catch (error) {
      rollback();
      throw error;
    }
  };

  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(callback: () => Promise<T>): Promise<T> => {
    const done = last.then(callback);
    last = done.catch(() => {});
    return done;
  };

  return {
    transact: (callback) => inTurn(() => run(callback)),
    transactAsyncCommit: (callback) =>
      inTurn(async () => {
        connection.exec("pragma synchronous = normal");
        try {
          return await run(callback);
        } finally {
          connection.exec("pragma synchronous = full");
        }
      }),
  };
};
