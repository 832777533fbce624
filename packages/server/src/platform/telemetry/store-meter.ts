// Times calls to the database and counts their failures.
import type { Replica } from "../database/replica.ts";
import type { ObserveCall } from "../database/schema/kysely-on.ts";
import { RolledBack } from "../errors.ts";
import { createTiming, type Timing } from "./timing.ts";
import type { Tracing } from "./tracing.ts";

export const storeOperations = ["transaction", "read", "delivery"] as const;
export type StoreOperation = (typeof storeOperations)[number];

interface OperationMeter {
  readonly timing: Timing;
  errors: number;
  /** Calls in progress. */
  waiting: number;
}

export interface StoreMeter {
  readonly operations: Readonly<Record<StoreOperation, OperationMeter>>;
  readonly observe: ObserveCall;
  /** Milliseconds since the changes of other instances were last read. */
  lookAge(): number;
  readonly replica: Replica;
}

export const createStoreMeter = (now: () => number, tracing: Tracing | undefined): StoreMeter => {
  const create = (): OperationMeter => ({ timing: createTiming(), errors: 0, waiting: 0 });
  const operations = { transaction: create(), read: create(), delivery: create() };
  let lookedAt = now();

  return {
    operations,
    async observe(operation, name, call) {
      const meter = operations[operation];
      const started = now();
      meter.waiting += 1;
      try {
        return await (tracing ? tracing.storeCall(name, call) : call());
      } catch (error) {
        if (!(error instanceof RolledBack)) meter.errors += 1;
        throw error;
      } finally {
        meter.waiting -= 1;
        meter.timing.add(now() - started);
      }
    },
    lookAge: () => now() - lookedAt,
    replica: {
      beginPoll: () => async () => {
        lookedAt = now();
      },
      apply: () => true,
    },
  };
};
