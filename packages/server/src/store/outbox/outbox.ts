// The delivery worker's side of the store.
import { randomUUID } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { DeliverySignal, Outbox } from "../../ports.ts";
import type { DatabaseTraits } from "../schema/dialect.ts";
import type { Tables } from "../schema/tables.ts";
import type { SecretCipher } from "../secrets/secret-cipher.ts";
import { claim, isFree } from "./claim.ts";
import { lockQueues } from "./lock-queues.ts";
import { pruneEvents, pruneUsage } from "./prune.ts";
import { lockHeld, writeOutcomes } from "./record-outcomes.ts";

interface OutboxDependencies {
  readonly database: Kysely<Tables>;
  readonly traits: DatabaseTraits;
  readonly transactRelaxed: Transact;
}

type Transact = <T>(work: (database: Kysely<Tables>) => Promise<T>) => Promise<T>;

/** Enough to see that it grows, and soon counted. */
const backlogLimit = 100_000;

export const createOutbox = (
  { database: reader, traits, transactRelaxed: transact }: OutboxDependencies,
  secrets: SecretCipher,
  listeners: Set<(signal: DeliverySignal) => void>,
  instance = randomUUID(),
): Outbox => ({
  onSignal(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },

  async due(now, leaseLength) {
    const rows = await reader
      .selectFrom("webhooks")
      .select("webhooks.id")
      .where("webhooks.active", "=", 1)
      .where((webhook) =>
        webhook.exists(
          webhook
            .selectFrom("lanes")
            .select("lanes.id")
            .whereRef("lanes.webhook_id", "=", "webhooks.id")
            .where("lanes.priority", "in", [0, 1])
            .where("lanes.due_at", "<=", now)
            .where(isFree(now, leaseLength)),
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
      .innerJoin("lanes", "lanes.webhook_id", "webhooks.id")
      .select((lane) => lane.fn.min("lanes.due_at").as("due_at"))
      .where("webhooks.active", "=", 1)
      .where("lanes.due_at", "<=", now)
      .executeTakeFirst();
    const due = oldest?.due_at ?? null;
    return {
      pending: Number(pending?.count ?? 0),
      oldestDueAt: due === null ? null : Number(due),
    };
  },

  runBatch: ({ claim: request, now, ...outcomes }) =>
    transact(async (database) => {
      await writeOutcomes(database, await lockHeld(database, traits, { ...outcomes, now }));
      return claim(database, traits, secrets, request, now);
    }),

  clockWentBack: (step, now) =>
    transact(async (database) => {
      // It was measured in fractions; times are whole.
      const milliseconds = Math.round(step);
      await traits.alone(database);
      if (await isKnownStep(database, { instance, milliseconds, noticed_at: now })) return;
      await lockQueues(database, traits, (lane) => lane("due_at", ">", now));
      await database
        .updateTable("lanes")
        .set(({ eb }) => ({
          due_at: eb("due_at", "-", milliseconds),
          not_before: eb("not_before", "-", milliseconds),
        }))
        .where("due_at", ">", now)
        .execute();
    }),

  prune: (before, now) =>
    transact(async (database) => {
      const moreUsage = await pruneUsage(database, before);
      return (await pruneEvents(database, traits, before, now)) || moreUsage;
    }),
});

/** Instances notice a step of the clock within this time of each other, and agree on its length as closely. */
const sameStep = 5_000;

/** Whether another instance was faster; when not, the step is known from now on. */
const isKnownStep = async (
  database: Kysely<Tables>,
  step: Tables["clock_steps"],
): Promise<boolean> => {
  const { instance, noticed_at: now, milliseconds } = step;
  const known = await database
    .selectFrom("clock_steps")
    .select("noticed_at")
    // What this very instance has noticed before is another step, however alike.
    .where("instance", "<>", instance)
    .where("noticed_at", ">", now - sameStep)
    .where("noticed_at", "<", now + sameStep)
    .where("milliseconds", ">", milliseconds - sameStep)
    .where("milliseconds", "<", milliseconds + sameStep)
    .executeTakeFirst();
  if (known) return true;
  // Older steps are of no use, and neither are those of a time that the clock has left again.
  await database.deleteFrom("clock_steps").execute();
  await database.insertInto("clock_steps").values(step).execute();
  return false;
};
