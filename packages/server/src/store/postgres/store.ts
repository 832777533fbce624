// The store on PostgreSQL: a pool of connections, transactions that are run again when another was in the way, and hints.
import { setTimeout } from "node:timers/promises";
import type { Kysely } from "kysely";
import { type ClientConfig, Pool, type PoolClient } from "pg";
import type { Store } from "../../ports.ts";
import type { Tables } from "../schema/tables.ts";
import type { SecretCipher } from "../secrets/secret-cipher.ts";
import { createReader } from "../sql/reader.ts";
import { createSqlStore, type Engine } from "../sql/store.ts";
import { clientSettings, type PostgresSettings } from "./connection.ts";
import { isConnectionLost, isInTheWay, isStalePlan, toStoreError } from "./errors.ts";
import { listenForHints } from "./listen.ts";
import { kyselyOn, PipelinedTransaction, plainConnection } from "./pipeline.ts";
import { createSockets } from "./sockets.ts";
import { openSchema } from "./start.ts";
import { postgresTraits } from "./traits.ts";
import { createGate } from "./transaction-gate.ts";

/** How often a transaction is tried when others are in its way. */
const maxTries = 6;
/** Nothing is begun again later than this: whoever asked has then waited long enough, for a server that is silent above all. */
const tryAgainWithin = 5_000;
const gatePatience = 5_000;

export const openPostgresStore = async (
  settings: PostgresSettings,
  secrets: SecretCipher,
  mayMigrate = true,
): Promise<Store> => createSqlStore(await openPostgresEngine(settings, mayMigrate), secrets);

export const openPostgresEngine = async (
  settings: PostgresSettings,
  mayMigrate: boolean,
): Promise<Engine> => {
  const ssl = await openSchema(settings, mayMigrate);
  return createEngine(clientSettings(settings, ssl), settings.poolSize);
};

type Work<T> = (database: Kysely<Tables>) => Promise<T>;

const createEngine = (withoutSockets: ClientConfig, poolSize: number): Engine => {
  const sockets = createSockets();
  const settings: ClientConfig = { ...withoutSockets, stream: sockets.open };
  const pool = new Pool({
    ...settings,
    max: poolSize,
    idleTimeoutMillis: 60_000,
    maxLifetimeSeconds: 3_600,
  });
  // Said by connections that are lost: whoever uses them is told by an error of his own.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const hints = listenForHints(settings);
  const gate = createGate(poolSize - 1, gatePatience);

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

  /** For reads: what is asked this way may be asked twice. */
  const database = kyselyOn(async (consumer) => {
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
        // A connection that was lost while it was idle is noticed by its next user: another one may be good.
        const mayTryAgain = tries === 1 && failure !== undefined && isSpoiling(failure);
        if (!mayTryAgain || isTooLate(begun)) throw toStoreError(error);
      }
    }
  });

  const attempt = async <T>(
    beginning: readonly string[],
    work: Work<T>,
  ): Promise<TransactionOutcome<T>> => {
    let transaction: PipelinedTransaction | undefined;
    try {
      const result = await withClient(
        async (client) => {
          const current = new PipelinedTransaction(client, beginning);
          transaction = current;
          try {
            const value = await work(kyselyOn((consumer) => consumer(current)));
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
      // What the work itself throws is not the database's affair.
      if (!transaction.failure) throw error;
      const cause = transaction.failure.error;
      const isLost = isConnectionLost(cause) && !transaction.commitSent;
      return {
        kind: "failed",
        cause,
        mayTryAgain: isInTheWay(cause) || isStalePlan(cause) || isLost,
      };
    }
  };

  const transactBeginning =
    (...beginning: string[]) =>
    <T>(work: Work<T>): Promise<T> => {
      const begun = performance.now();
      return gate(async () => {
        for (let tries = 1; ; tries += 1) {
          const outcome = await attempt(beginning, work);
          if (outcome.kind === "committed") return outcome.result;
          const mayTryAgain = outcome.mayTryAgain && tries < maxTries && !isTooLate(begun);
          if (!mayTryAgain) throw toStoreError(outcome.cause);
          await setTimeout(Math.random() * 10 * tries);
        }
      });
    };

  return {
    database,
    traits: postgresTraits,
    reads: createReader(database),
    committed: undefined,
    transact: transactBeginning("begin"),
    transactRelaxed: transactBeginning("begin", "set local synchronous_commit = off"),
    asOfNow: transactBeginning("begin isolation level repeatable read read only"),
    onHint: hints.listen,
    close: () => sockets.closeAfter(Promise.all([hints.stop(), pool.end()])),
  };
};

const isTooLate = (begun: number): boolean => performance.now() - begun > tryAgainWithin;

type TransactionOutcome<T> =
  | { readonly kind: "committed"; readonly result: T }
  | { readonly kind: "failed"; readonly cause: unknown; readonly mayTryAgain: boolean };

/** Whether a connection is of no use after this error. */
const isSpoiling = (error: unknown): boolean =>
  error !== undefined && (isConnectionLost(error) || isStalePlan(error));
