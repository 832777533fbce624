// Puts deliveries into their lanes, inside the transaction that gives rise to them.
import type { Kysely } from "kysely";
import type { DeliveryKind } from "../../domain/delivery.ts";
import type { NewDelivery } from "../../domain/webhook.ts";
import type { Tables } from "../schema/tables.ts";

/** Rows in one statement: enough that its cost is shared, few enough that its text stays small. */
const batch = 100;

const batchesOf = <T>(rows: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(rows.length / batch) }, (_, index) =>
    rows.slice(index * batch, (index + 1) * batch),
  );

/** A test has no flag whose order it could keep: it waits for nobody, not even for the test before it. */
const queueOf = ({ flagKey, id }: NewDelivery): string => flagKey ?? ` ${id}`;

/** The lanes of these deliveries, each once and in the order in which lanes are locked. */
const queuesOf = (deliveries: readonly NewDelivery[]) => {
  const lanes = new Map(
    deliveries.map((delivery) => [
      `${delivery.webhookId} ${queueOf(delivery)}`,
      { webhook_id: delivery.webhookId, flag_key: queueOf(delivery) },
    ]),
  );
  return [...lanes].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, lane]) => lane);
};

export const queue = async (
  database: Kysely<Tables>,
  deliveries: readonly NewDelivery[],
  kind: DeliveryKind,
  at: Date,
  queued: Set<string>,
): Promise<void> => {
  const time = at.getTime();
  const priority = kind === "replay" ? 1 : 0;
  for (const lanes of batchesOf(queuesOf(deliveries))) {
    await database
      .insertInto("lanes")
      .values(lanes.map((lane) => ({ ...lane, priority, due_at: time, lease_until: 0 })))
      .onConflict((conflict) =>
        conflict
          .columns(["webhook_id", "flag_key", "priority"])
          // A lane that waits for its retry goes on waiting; an idle one is due. Written in either case: so it waits for
          // a worker that settles the lane just now, and sees what it left.
          .doUpdateSet((lane) => ({
            due_at: lane.fn.coalesce("lanes.due_at", lane.ref("excluded.due_at")),
          })),
      )
      .execute();
  }
  for (const part of batchesOf(deliveries)) {
    await database
      .insertInto("deliveries")
      .values((rows) =>
        part.map((delivery) => ({
          id: delivery.id,
          webhook_id: delivery.webhookId,
          lane_id: rows
            .selectFrom("lanes")
            .select("lanes.id")
            .where("lanes.webhook_id", "=", delivery.webhookId)
            .where("lanes.flag_key", "=", queueOf(delivery))
            .where("lanes.priority", "=", priority),
          event_id: delivery.eventId,
          sequence: delivery.sequence,
          kind,
          state: "pending",
          attempts: 0,
          created_at: time,
        })),
      )
      .execute();
  }
  for (const { webhookId } of deliveries) queued.add(webhookId);
};
