// Writes an event that makes no revision, with its deliveries.
import type { Tx } from "../platform/database/db.ts";
import type { ChangeEvent, EnvironmentState } from "./change.ts";
import { queueAtEnd } from "./queue-at-end.ts";
import type { NewDelivery } from "./webhook.ts";

/** `orderedBy` names the queue of the deliveries. */
export const insertEvent = async (
  tx: Tx,
  state: EnvironmentState,
  event: ChangeEvent & { readonly at: Date },
  orderedBy: string,
  deliveries: readonly NewDelivery[],
): Promise<void> => {
  const { database } = tx;
  await database
    .updateTable("environments")
    .set({ sequence: state.sequence })
    .where("id", "=", state.id)
    .execute();
  await database
    .insertInto("events")
    .values({
      environment_id: state.id,
      sequence: event.sequence,
      id: event.id,
      type: event.type,
      ordering_key: orderedBy,
      created_at: event.at.getTime(),
      body: event.body,
    })
    .execute();
  queueAtEnd(tx, deliveries, event.at);
};
