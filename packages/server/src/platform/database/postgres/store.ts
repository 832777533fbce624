// The store on PostgreSQL: a pool of connections, transactions that are retried after conflicts, and hints.
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { type ClientConfig, Pool, type PoolClient } from "pg";
import { followReads } from "../../../evaluation/queries.ts";
import { refuseWhenCrowded } from "../group-commit.ts";
import { createReader } from "../reader.ts";
import type { Provide } from "../schema/kysely-on.ts";
import type { EngineOptions } from "../schema/migrate.ts";
import type { Callback } from "../schema/tables.ts";
import type { Engine } from "../sql-store.ts";
import { clientSettings, isUnencrypted, longestWait, type PostgresSettings } from "./connection.ts";
import {
  isConflict,
  isConnectionLost,
  isStalePlan,
  toStoreError,
  toUnavailable,
} from "./errors.ts";
import { listenForHints } from "./listen.ts";
import { PipelinedTransaction, plainConnection, postgresOn } from "./pipeline.ts";
import { createSockets } from "./sockets.ts";
import { openSchema } from "./start.ts";
import { postgresDialectOf } from "./traits.ts";
import { createGate } from "./transaction-gate.ts";

/** Attempts at a transaction that conflicts with others. */
const maxTries = 6;

export const openPostgresEngine = async (
  settings: PostgresSettings,
  options: EngineOptions,
): Promise<Engine> => {
  const ssl = await openSchema(settings, options);
  return {
    ...createEngine(clientSettings(settings, ssl), settings, options),
    unencryptedTo: isUnencrypted(settings, ssl) ? settings.name : undefined,
  };
};

const createEngine = (
  withoutSockets: ClientConfig,
  { poolSize, timeout }: Pick<PostgresSettings, "poolSize" | "timeout">,
  { maxWaiting = Number.POSITIVE_INFINITY, observe }: EngineOptions,
): Omit<Engine, "unencryptedTo"> => {
  const sockets = createSockets();
  const settings: ClientConfig = { ...withoutSockets, stream: sockets.open };
  const pool = new Pool({
    ...settings,
    max: poolSize,
    idleTimeoutMillis: 60_000,
    maxLifetimeSeconds: 3_600,
  });
  // Emitted for lost connections: whoever uses one gets an error as well.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const name = randomUUID();
  const hints = listenForHints(settings, name);
  const gate = createGate(poolSize - 1, longestWait(timeout));
  /** Nothing is retried: the caller has waited long enough, above all for a server that does not answer. */
  const isTooLate = (begun: number): boolean => performance.now() - begun > longestWait(timeout);
  const refuseIfCrowded = () => refuseWhenCrowded(gate.waiting() + pool.waitingCount, maxWaiting);

  const withClient = async <T>(
    use: (client: PoolClient) => Promise<T>,
    isSpoilt: () => boolean,
  ): Promise<T> => {
    const client = await pool.connect();
    try {
      return await use(client);
    } finally {
      client.release(isSpoilt());
    }
  };

  /** For reads: a statement may be sent twice. */
  const database = postgresOn((consumer) => read(consumer), observe);
  const databaseForRequests = postgresOn(async (consumer) => {
    refuseIfCrowded();
    return read(consumer);
  }, observe);
  const read: Provide = async (consumer) => {
    const begun = performance.now();
    for (let tries = 1; ; tries += 1) {
      let failure: unknown;
      try {
        return await withClient(
          (client) =>
            consumer(plainConnection(client)).catch((error: unknown) => {
              failure = error;
              throw error;
            }),
          () => isSpoiling(failure),
        );
      } catch (error) {
        // A connection that was lost while it was idle fails at its next use: another one may work.
        const mayRetry = tries === 1 && failure !== undefined && isSpoiling(failure);
        if (!mayRetry || isTooLate(begun)) throw toStoreError(error);
      }
    }
  };

  const attempt = async <T>(
    beginning: readonly string[],
    callback: Callback<T>,
  ): Promise<TransactionOutcome<T>> => {
    let transaction: PipelinedTransaction | undefined;
    try {
      const result = await withClient(
        async (client) => {
          const current = new PipelinedTransaction(client, beginning);
          transaction = current;
          try {
            const value = await callback(postgresOn((consumer) => consumer(current)));
            await current.commit();
            return value;
          } catch (error) {
            if (!current.commitSent) await current.rollback();
            throw error;
          }
        },
        () => isSpoiling(transaction?.failure?.error),
      );
      return { kind: "committed", result };
    } catch (error) {
      if (!transaction) throw toStoreError(error);
      // Thrown by the callback, not by the database.
      if (!transaction.failure) throw error;
      const cause = transaction.failure.error;
      const isLost = isConnectionLost(cause) && !transaction.mayBeCommitted;
      return {
        kind: "failed",
        cause,
        mayRetry: isConflict(cause) || isStalePlan(cause) || isLost,
      };
    }
  };

  const transactBeginning =
    (...beginning: string[]) =>
    <T>(callback: Callback<T>): Promise<T> => {
      const begun = performance.now();
      return gate.run(async () => {
        for (let tries = 1; ; tries += 1) {
          const outcome = await attempt(beginning, callback);
          if (outcome.kind === "committed") return outcome.result;
          const { mayRetry, cause } = outcome;
          if (mayRetry && isTooLate(begun)) throw toUnavailable(cause);
          if (!mayRetry || tries === maxTries) throw toStoreError(cause);
          await setTimeout(Math.random() * 10 * tries);
        }
      });
    };

  const transact = transactBeginning("begin");
  const feedReads = createReader(database);
  return {
    database,
    databaseForRequests,
    dialect: postgresDialectOf(name),
    // What the change feed reads is not for a request, and never refused.
    reads: {
      ...createReader(databaseForRequests),
      ...followReads(database),
      content: (environmentId) => feedReads.content(environmentId),
    },
    committed: undefined,
    async transact(callback) {
      refuseIfCrowded();
      return transact(callback);
    },
    locksAll: false,
    maxWaiting,
    transactAsyncCommit: transactBeginning("begin", "set local synchronous_commit = off"),
    repeatableRead: transactBeginning("begin isolation level repeatable read read only"),
    onHint: hints.listen,
    close: () => sockets.closeAfter(Promise.all([hints.stop(), pool.end()])),
  };
};

type TransactionOutcome<T> =
  | { readonly kind: "committed"; readonly result: T }
  | { readonly kind: "failed"; readonly cause: unknown; readonly mayRetry: boolean };

/** Whether the connection cannot be used after this error. */
const isSpoiling = (error: unknown): boolean =>
  error !== undefined && (isConnectionLost(error) || isStalePlan(error));
