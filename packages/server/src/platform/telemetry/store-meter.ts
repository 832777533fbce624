// Times the store's calls and counts their failures.
import type { OutboxBatch } from "../../features/webhooks/outbox.ts";
import type { Reader, Store, Transaction, TransactOptions } from "../database/store.ts";
import { RolledBack } from "../errors.ts";
import { createTiming, type Timing } from "./timing.ts";
import type { Tracing } from "./tracing.ts";

export const storeOperations = ["transaction", "read", "delivery"] as const;
export type StoreOperation = (typeof storeOperations)[number];

interface OperationMeter {
  readonly timing: Timing;
  errors: number;
  /** Calls that wait for an answer now. */
  waiting: number;
}

export interface StoreMeter {
  readonly operations: Readonly<Record<StoreOperation, OperationMeter>>;
  /** Milliseconds since the changes of other instances were last read. */
  lookAge(): number;
  readonly store: (store: Store) => Store;
}

type Work = (transaction: Transaction) => Promise<unknown>;

const reads: readonly (keyof Reader)[] = [
  "environments",
  "unfinishedEnvironments",
  "flag",
  "content",
  "segments",
  "segment",
  "wholeSegment",
  "membersAmong",
  "flagsAmong",
  "segmentsAmong",
  "referencesTo",
  "requiring",
  "revisionAt",
  "revisionTime",
  "countRevisions",
  "firstChanges",
  "firstDeletion",
  "changesBack",
  "webhooks",
  "webhook",
  "health",
  "blocking",
  "deliveries",
  "delivery",
  "eventBody",
  "events",
  "keys",
  "positions",
  "changesAfter",
  "keyHolders",
  "usage",
  "usageHours",
  "evaluationErrors",
  "history",
  "chainPart",
];

export const createStoreMeter = (now: () => number, tracing: Tracing | undefined): StoreMeter => {
  const create = (): OperationMeter => ({ timing: createTiming(), errors: 0, waiting: 0 });
  const operations = { transaction: create(), read: create(), delivery: create() };
  let lookedAt = now();

  const timed = <Values extends unknown[], T>(
    operation: StoreOperation,
    name: string,
    real: (...values: Values) => Promise<T>,
  ) => {
    const meter = operations[operation];
    const call = tracing
      ? (...values: Values) => tracing.storeCall(name, () => real(...values))
      : real;
    return async (...values: Values): Promise<T> => {
      const started = now();
      meter.waiting += 1;
      try {
        return await call(...values);
      } catch (error) {
        if (!(error instanceof RolledBack)) meter.errors += 1;
        throw error;
      } finally {
        meter.waiting -= 1;
        meter.timing.add(now() - started);
      }
    };
  };

  return {
    operations,
    lookAge: () => now() - lookedAt,
    store(store) {
      const timedReads = Object.fromEntries(
        reads.map((name) => [
          name,
          timed("read", name, store[name] as (...values: unknown[]) => Promise<unknown>),
        ]),
      );
      const timedReader = { ...store, ...timedReads } as Store;
      return {
        ...timedReader,
        async positions() {
          const positions = await timedReader.positions();
          lookedAt = now();
          return positions;
        },
        transact: timed("transaction", "transact", (work: Work, options?: TransactOptions) =>
          store.transact(work, options),
        ) as Store["transact"],
        outbox: {
          ...store.outbox,
          runBatch: timed("delivery", "runBatch", (batch: OutboxBatch) =>
            store.outbox.runBatch(batch),
          ),
        },
      };
    },
  };
};
