// Queues deliveries of events at the end of the transaction, where the queues of all its changes are locked in one order.
import type { Tx } from "../platform/database/db.ts";
import type { NewDelivery } from "./webhook.ts";

export const queueAtEnd = (
  { signal }: Pick<Tx, "signal">,
  deliveries: readonly NewDelivery[],
  at: Date,
): void => {
  for (const delivery of deliveries) {
    signal.deliveries.push({ ...delivery, kind: "event", at });
    signal.queued.add(delivery.webhookId);
  }
};
