// Puts deliveries into their lanes, inside the transaction that gives rise to them.
import type { Kysely } from "kysely";
import type { DeliveryKind } from "../domain/delivery.ts";
import type { NewDelivery } from "../domain/webhook.ts";
import type { Tables } from "./tables.ts";

/** Rows in one statement: enough that its cost is shared, few enough that its text stays small. */
const batch = 100;

const laneName = (webhookId: string, flagKey: string | null) => `${webhookId} ${flagKey ?? ""}`;

const laneOf = (lanes: ReadonlyMap<string, number>, name: string): number => {
  const id = lanes.get(name);
  if (id === undefined) throw new Error(`There is no lane ${name}.`);
  return id;
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
  for (let begin = 0; begin < deliveries.length; begin += batch) {
    const part = deliveries.slice(begin, begin + batch);
    const wanted = new Map(
      part.map(({ webhookId, flagKey }) => [
        laneName(webhookId, flagKey),
        {
          webhook_id: webhookId,
          flag_key: flagKey ?? "",
          priority,
          due_at: time,
          lease_until: 0,
        },
      ]),
    );
    const lanes = await database
      .insertInto("lanes")
      .values([...wanted.values()])
      .onConflict((conflict) =>
        conflict
          .columns(["webhook_id", "flag_key", "priority"])
          // A lane that waits for its retry goes on waiting; an idle one is due.
          .doUpdateSet((lane) => ({
            due_at: lane.fn.coalesce("lanes.due_at", lane.ref("excluded.due_at")),
          })),
      )
      .returning(["id", "webhook_id", "flag_key"])
      .execute();
    const laneIds = new Map(
      lanes.map((lane) => [laneName(lane.webhook_id, lane.flag_key), lane.id]),
    );
    await database
      .insertInto("deliveries")
      .values(
        part.map(({ id, webhookId, eventId, sequence, flagKey }) => ({
          id,
          webhook_id: webhookId,
          lane_id: laneOf(laneIds, laneName(webhookId, flagKey)),
          event_id: eventId,
          sequence,
          kind,
          state: "pending",
          attempts: 0,
          created_at: time,
        })),
      )
      .execute();
    for (const { webhookId } of part) queued.add(webhookId);
  }
};
