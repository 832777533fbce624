// Deletes what is older than its retention, a small batch at a time.
import { errorRetention } from "../evaluation/usage/counts.ts";
import { pruneEvaluationErrors } from "../evaluation/usage/error-queries.ts";
import { pruneUsage } from "../evaluation/usage/queries.ts";
import { pruneRequests } from "../features/change-requests/prune-queries.ts";
import { pruneHistory } from "../features/history/prune-queries.ts";
import { pruneAttemptCounts } from "../features/webhooks/sending/attempt-queries.ts";
import type { Prune } from "../features/webhooks/sending/batch.ts";
import { pruneEvents, pruneQueues } from "../features/webhooks/sending/prune-queries.ts";
import type { Store } from "../platform/database/store.ts";

export const createPrune = (store: Store): Prune => {
  const swept = { queue: 0, entry: 0 };
  return async ({ now, eventsBefore, historyBefore }) => {
    // In transactions of their own: they lock environments, which come before everything else.
    const moreErrors = await store.transactAsyncCommit((db) =>
      pruneEvaluationErrors(db, now - errorRetention),
    );
    const moreHistory =
      historyBefore !== undefined &&
      (await store.transactAsyncCommit((db) => pruneHistory(db, swept, { historyBefore, now })));
    return store.transactAsyncCommit(async (db) => {
      const moreUsage = await pruneUsage(db, eventsBefore);
      const moreCounts = await pruneAttemptCounts(db, eventsBefore);
      const moreEvents = await pruneEvents(db, eventsBefore, now);
      const moreQueues = await pruneQueues(db, swept, now);
      const moreRequests = historyBefore !== undefined && (await pruneRequests(db, historyBefore));
      return [
        ...[moreUsage, moreErrors, moreCounts, moreEvents],
        ...[moreQueues, moreHistory, moreRequests],
      ].includes(true);
    });
  };
};
