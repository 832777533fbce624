// What the delivery worker reads and writes: claims with leases, their outcomes, and rows that are too old.
import { errorRetention } from "../../../evaluation/usage/counts.ts";
import type { Store } from "../../../platform/database/store.ts";
import { pruneAttemptCounts } from "./attempt-queries.ts";
import type { Claimed, OutboxBatch } from "./batch.ts";
import { lockHeld, writeOutcomes } from "./outcome-queries.ts";
import { pruneEvaluationErrors, pruneEvents, pruneRequests, pruneUsage } from "./prune.ts";
import { pruneHistory, pruneQueues, type Swept } from "./prune-queries.ts";
import { claim, listDue } from "./queries.ts";

export interface Retention {
  readonly now: number;
  /** Events, deliveries and counts of evaluations from before this time are deleted. */
  readonly eventsBefore: number;
  /** So is history; undefined keeps all of it. */
  readonly historyBefore: number | undefined;
}

/** As an object, so that its calls can be measured. */
export interface Outbox {
  /** Active webhooks with something due. */
  due(now: number, leaseLength: number): Promise<readonly string[]>;
  /** Records outcomes and claims in one transaction. */
  runBatch(batch: OutboxBatch): Promise<Claimed>;
  /** Deletes a small batch of what is no longer needed; true when there may be more. */
  prune(retention: Retention): Promise<boolean>;
}

export const createOutbox = (store: Store): Outbox => {
  const swept: Swept = { queue: 0, entry: 0 };
  return {
    due: (now, leaseLength) => listDue(store.background, now, leaseLength),

    runBatch: ({ claim: request, now, ...outcomes }) =>
      store.transactRelaxed(async (db) => {
        const held = await lockHeld(db, { ...outcomes, now });
        await writeOutcomes(db, held);
        return claim(db, request, now);
      }),

    async prune({ now, eventsBefore, historyBefore }) {
      // In transactions of their own: they lock environments, which come before everything else.
      const moreErrors = await store.transactRelaxed((db) =>
        pruneEvaluationErrors(db, now - errorRetention),
      );
      const moreHistory =
        historyBefore !== undefined &&
        (await store.transactRelaxed((db) => pruneHistory(db, swept, { historyBefore, now })));
      return store.transactRelaxed(async (db) => {
        const moreUsage = await pruneUsage(db, eventsBefore);
        const moreCounts = await pruneAttemptCounts(db, eventsBefore);
        const moreEvents = await pruneEvents(db, eventsBefore, now);
        const moreQueues = await pruneQueues(db, swept, now);
        const moreRequests =
          historyBefore !== undefined && (await pruneRequests(db, historyBefore));
        return [
          ...[moreUsage, moreErrors, moreCounts, moreEvents],
          ...[moreQueues, moreHistory, moreRequests],
        ].includes(true);
      });
    },
  };
};
