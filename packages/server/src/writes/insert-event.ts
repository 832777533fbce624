// Writes an event that makes no revision, with its deliveries.
import type { Tx } from "../platform/database/db.ts";
import { insertEventRow } from "../platform/database/schema/event-row.ts";
import type { ChangeEvent, EnvironmentState } from "./change.ts";
import { queueAtEnd } from "./queue-at-end.ts";
import type { NewDelivery } from "./webhook.ts";

/** `orderingKey` names the queue of the deliveries. */
export const insertEvent = async (
  tx: Tx,
  state: EnvironmentState,
  event: ChangeEvent & { readonly at: Date },
  orderingKey: string,
  deliveries: readonly NewDelivery[],
): Promise<void> => {
  const { database } = tx;
  await database
    .updateTable("environments")
    .set({ sequence: state.sequence })
    .where("id", "=", state.id)
    .execute();
  await insertEventRow.send(database, {
    ...event,
    environmentId: state.id,
    orderingKey,
    createdAt: event.at.getTime(),
  });
  queueAtEnd(tx, deliveries, event.at);
};
