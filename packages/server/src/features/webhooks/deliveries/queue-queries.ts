// Adds deliveries to their ordering queues, inside the transaction of the change.
import { sql } from "kysely";
import type { Db, Tx } from "../../../platform/database/db.ts";
import { rowsToWrite } from "../../../platform/database/schema/prepared.ts";
import type { NewDelivery } from "../../../writes/webhook.ts";
import type { DeliveryKind, QueuedDelivery } from "./rules.ts";

type Queued = Pick<NewDelivery, "id" | "webhookId" | "orderingKey">;

/** A test event belongs to no flag, so it gets a queue of its own and waits for nothing. */
const queueKeyOf = ({ orderingKey, id }: Queued): string => orderingKey ?? ` ${id}`;

const priorityOf = ({ kind }: QueuedDelivery): 0 | 1 => (kind === "replay" ? 1 : 0);

interface QueueRow {
  readonly webhook_id: string;
  readonly ordering_key: string;
  readonly priority: 0 | 1;
  readonly due_at: number;
}

/** However many they are. Written in their order. */
const upsertQueues = rowsToWrite(
  { numbers: ["priority", "due_at"], texts: ["webhook_id", "ordering_key"] },
  (database, { column, from }) =>
    database
      .insertInto("delivery_queues")
      .columns(["webhook_id", "ordering_key", "priority", "due_at", "lease_until"])
      .expression(
        sql`select ${column("webhook_id")}, ${column("ordering_key")}, ${column("priority")}, ${column("due_at")}, 0
          ${from} where true`,
      )
      .onConflict((conflict) =>
        conflict
          .columns(["webhook_id", "ordering_key", "priority"])
          // A queue that waits for its retry keeps waiting; an idle one is due. Written in either case, so that this
          // transaction waits for a worker that records an outcome of the queue right now, and sees what it wrote.
          .doUpdateSet((row) => ({
            due_at: row.fn.coalesce("delivery_queues.due_at", row.ref("excluded.due_at")),
          })),
      ),
);

const insertDeliveries = rowsToWrite(
  {
    numbers: ["priority", "sequence", "due_at"],
    texts: ["id", "webhook_id", "ordering_key", "event_id", "kind"],
  },
  (database, { column, from }) =>
    database
      .insertInto("deliveries")
      .columns([
        ...(["id", "webhook_id", "queue_id", "event_id", "sequence", "kind"] as const),
        ...(["state", "attempts", "created_at"] as const),
      ])
      .expression(
        sql`select ${column("id")}, ${column("webhook_id")},
          (select delivery_queues.id from delivery_queues where delivery_queues.webhook_id = ${column("webhook_id")}
            and delivery_queues.ordering_key = ${column("ordering_key")} and delivery_queues.priority = ${column("priority")}),
          ${column("event_id")}, ${column("sequence")}, ${column("kind")}, 'pending', 0, ${column("due_at")}
          ${from}`,
      ),
);

/** Each queue once, and in the order in which queues are locked. */
const inLockOrder = (rows: readonly QueueRow[]): readonly QueueRow[] => {
  const nameOf = (row: QueueRow) => `${row.webhook_id} ${row.ordering_key} ${row.priority}`;
  const queues = new Map(rows.map((row) => [nameOf(row), row]));
  return [...queues].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, queue]) => queue);
};

/** The queues of these deliveries exist and are due, unless they wait for a retry. */
export const openQueues = (
  { database, dialect }: Db,
  deliveries: readonly Queued[],
  priority: 0 | 1,
  time: number,
): Promise<void> =>
  upsertQueues(
    database,
    dialect,
    inLockOrder(
      deliveries.map((delivery) => ({
        webhook_id: delivery.webhookId,
        ordering_key: queueKeyOf(delivery),
        priority,
        due_at: time,
      })),
    ),
  );

export const insertQueued = async (
  { database, dialect }: Db,
  deliveries: readonly QueuedDelivery[],
): Promise<void> => {
  if (deliveries.length === 0) return;
  const rows = deliveries.map((delivery) => ({
    id: delivery.id,
    webhook_id: delivery.webhookId,
    ordering_key: queueKeyOf(delivery),
    priority: priorityOf(delivery),
    due_at: delivery.at.getTime(),
    event_id: delivery.eventId,
    sequence: delivery.sequence,
    kind: delivery.kind,
  }));
  await upsertQueues(database, dialect, inLockOrder(rows));
  await insertDeliveries(database, dialect, rows);
};

export const queueDeliveries = async (
  tx: Tx,
  deliveries: readonly NewDelivery[],
  kind: DeliveryKind,
  at: Date,
): Promise<void> => {
  await insertQueued(
    tx,
    deliveries.map((delivery) => ({ ...delivery, kind, at })),
  );
  for (const { webhookId } of deliveries) tx.signal.queued.add(webhookId);
};
