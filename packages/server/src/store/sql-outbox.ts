// The delivery worker's side of the store.
import { type Kysely, sql } from "kysely";
import type { DeliverySignal, Outbox } from "../ports.ts";
import type { SecretBox } from "./secret-box.ts";
import { claim, isFree } from "./sql-claim.ts";
import { release, settle, writeHealth } from "./sql-settle.ts";
import type { Tables } from "./tables.ts";

type Transact = <T>(work: (database: Kysely<Tables>) => Promise<T>) => Promise<T>;

/** Rows deleted at once: few enough that nobody waits for it. */
const pruneBatch = 500;

export const createOutbox = (
  reader: Kysely<Tables>,
  transact: Transact,
  secrets: SecretBox,
  listeners: Set<(signal: DeliverySignal) => void>,
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

  turn: ({ settlements, released, health, claim: request, now }) =>
    transact(async (database) => {
      await settle(database, settlements, now);
      await release(database, released);
      for (const each of health) await writeHealth(database, each, now);
      return claim(database, secrets, request, now);
    }),

  clockWentBack: (milliseconds, now) =>
    transact(async (database) => {
      await database
        .updateTable("lanes")
        .set(({ eb }) => ({
          due_at: eb("due_at", "-", milliseconds),
          not_before: eb("not_before", "-", milliseconds),
        }))
        .where("due_at", ">", now)
        .execute();
    }),

  prune: (before, now) => transact((database) => prune(database, before, now)),
});

const prune = async (database: Kysely<Tables>, before: number, now: number): Promise<boolean> => {
  await database
    .updateTable("webhooks")
    .set({ previous_secret: null, previous_until: null })
    .where("previous_until", "<=", now)
    .execute();
  // An event stays for as long as a delivery of it is still to be made or was settled lately; with it go its deliveries.
  const old = await database
    .selectFrom("events")
    .select("id")
    .where("created_at", "<", before)
    .where((event) =>
      event.not(
        event.exists(
          event
            .selectFrom("deliveries")
            .select("deliveries.id")
            .whereRef("deliveries.event_id", "=", "events.id")
            .where((delivery) =>
              delivery.or([
                delivery("deliveries.state", "=", sql.lit("pending")),
                delivery("deliveries.settled_at", ">=", before),
              ]),
            ),
        ),
      ),
    )
    .limit(pruneBatch)
    .execute();
  if (old.length === 0) return false;
  await database
    .deleteFrom("events")
    .where(
      "id",
      "in",
      old.map(({ id }) => id),
    )
    .execute();
  return old.length === pruneBatch;
};
