// The delivery worker's side of the store.
import { sql } from "kysely";
import { errorRetention } from "../../../evaluation/usage/counts.ts";
import type { DatabaseTraits } from "../../../platform/database/schema/dialect.ts";
import type { Database, Transact } from "../../../platform/database/schema/tables.ts";
import type { SecretCipher } from "../../../platform/database/secrets/secret-cipher.ts";
import type { DeliverySignal, Outbox } from "../outbox.ts";
import { pruneAttemptCounts } from "./attempt-counts.ts";
import { claim, dueRanges, isFree, timesAt } from "./claim.ts";
import { pruneEvaluationErrors, pruneEvents, pruneRequests, pruneUsage } from "./prune.ts";
import { lockHeld, writeOutcomes } from "./record-outcomes.ts";
import { pruneHistory, pruneQueues, type Swept } from "./sweep.ts";

interface OutboxDependencies {
  readonly database: Database;
  readonly traits: DatabaseTraits;
  readonly transactRelaxed: Transact;
}

/** High enough to see growth, low enough to count quickly. */
const backlogLimit = 100_000;

export const createOutbox = (
  { database: reader, traits, transactRelaxed: transact }: OutboxDependencies,
  secrets: SecretCipher,
  listeners: Set<(signal: DeliverySignal) => void>,
): Outbox => {
  const swept: Swept = { queue: 0, entry: 0 };
  return {
    onSignal(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    async due(now, leaseLength) {
      const times = timesAt(now, leaseLength);
      const rows = await reader
        .selectFrom("webhooks")
        .select("webhooks.id")
        .where("webhooks.active", "=", 1)
        .where((webhook) =>
          // One look into the index for each range: a single one for both would read every queue that waits.
          webhook.or(
            dueRanges(times).map(([operator, time]) =>
              webhook.exists(
                webhook
                  .selectFrom("delivery_queues")
                  .select("delivery_queues.id")
                  .whereRef("delivery_queues.webhook_id", "=", "webhooks.id")
                  .where("delivery_queues.priority", "in", [0, 1])
                  .where("delivery_queues.due_at", operator, time)
                  .where(isFree(times)),
              ),
            ),
          ),
        )
        .execute();
      return rows.map(({ id }) => id);
    },

    async backlog(now) {
      const pending = await reader
        .selectFrom((first) =>
          first
            .selectFrom("deliveries")
            .select("deliveries.position")
            .where("deliveries.state", "=", sql.lit("pending"))
            .limit(backlogLimit)
            .as("pending"),
        )
        .select((row) => row.fn.countAll<number>().as("count"))
        .executeTakeFirst();
      const oldest = await reader
        .selectFrom("webhooks")
        .innerJoin("delivery_queues", "delivery_queues.webhook_id", "webhooks.id")
        .select((queue) => queue.fn.min("delivery_queues.due_at").as("due_at"))
        .where("webhooks.active", "=", 1)
        .where("delivery_queues.due_at", "<=", now)
        .executeTakeFirst();
      const due = oldest?.due_at ?? null;
      return {
        pending: Number(pending?.count ?? 0),
        oldestDueAt: due === null ? null : Number(due),
      };
    },

    runBatch: ({ claim: request, now, ...outcomes }) =>
      transact(async (database) => {
        const held = await lockHeld(database, traits, { ...outcomes, now });
        await writeOutcomes(database, traits, held);
        return claim(database, traits, secrets, request, now);
      }),

    async prune({ now, eventsBefore, historyBefore }) {
      // In transactions of their own: they lock environments, which come before everything else.
      const moreErrors = await transact((database) =>
        pruneEvaluationErrors(database, traits, now - errorRetention),
      );
      const moreHistory =
        historyBefore !== undefined &&
        (await transact((database) =>
          pruneHistory(database, traits, secrets, swept, { historyBefore, now }),
        ));
      return transact(async (database) => {
        const moreUsage = await pruneUsage(database, eventsBefore);
        const moreCounts = await pruneAttemptCounts(database, eventsBefore);
        const moreEvents = await pruneEvents(database, traits, eventsBefore, now);
        const moreQueues = await pruneQueues(database, traits, swept, now);
        const moreRequests =
          historyBefore !== undefined && (await pruneRequests(database, historyBefore));
        return [
          ...[moreUsage, moreErrors, moreCounts, moreEvents],
          ...[moreQueues, moreHistory, moreRequests],
        ].includes(true);
      });
    },
  };
};
