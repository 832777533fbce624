// Adds deliveries to their ordering queues, inside the transaction of the change.
import type { DeliveryKind } from "../../domain/webhooks/delivery.ts";
import type { NewDelivery } from "../../domain/webhooks/webhook.ts";
import type { Database } from "../schema/tables.ts";

/** Rows per statement: many share its cost, and its text stays short. */
const batch = 100;

const batchesOf = <T>(rows: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(rows.length / batch) }, (_, index) =>
    rows.slice(index * batch, (index + 1) * batch),
  );

type Queued = Pick<NewDelivery, "id" | "webhookId" | "flagKey">;

/** A test event belongs to no flag, so it gets a queue of its own and waits for nothing. */
const queueKeyOf = ({ flagKey, id }: Queued): string => flagKey ?? ` ${id}`;

/** The queues of these deliveries, each once and in the order in which queues are locked. */
const queuesOf = (deliveries: readonly Queued[]) => {
  const queues = new Map(
    deliveries.map((delivery) => [
      `${delivery.webhookId} ${queueKeyOf(delivery)}`,
      { webhook_id: delivery.webhookId, flag_key: queueKeyOf(delivery) },
    ]),
  );
  return [...queues].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, queue]) => queue);
};

/** The queues of these deliveries exist and are due, unless they wait for a retry. */
export const openQueues = async (
  database: Database,
  deliveries: readonly Queued[],
  priority: 0 | 1,
  time: number,
): Promise<void> => {
  for (const queues of batchesOf(queuesOf(deliveries))) {
    await database
      .insertInto("lanes")
      .values(queues.map((queue) => ({ ...queue, priority, due_at: time, lease_until: 0 })))
      .onConflict((conflict) =>
        conflict
          .columns(["webhook_id", "flag_key", "priority"])
          // A queue that waits for its retry keeps waiting; an idle one is due. Written in either case, so that this
          // transaction waits for a worker that records an outcome of the queue right now, and sees what it wrote.
          .doUpdateSet((row) => ({
            due_at: row.fn.coalesce("lanes.due_at", row.ref("excluded.due_at")),
          })),
      )
      .execute();
  }
};

export const queue = async (
  database: Database,
  deliveries: readonly NewDelivery[],
  kind: DeliveryKind,
  at: Date,
  queued: Set<string>,
): Promise<void> => {
  const time = at.getTime();
  const priority = kind === "replay" ? 1 : 0;
  await openQueues(database, deliveries, priority, time);
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
            .where("lanes.flag_key", "=", queueKeyOf(delivery))
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
