// The delivery log, and events by their numbers, in SQL.
import { sql } from "kysely";
import type { Db, Tx } from "../../../platform/database/db.ts";
import { insertEventRow } from "../../../platform/database/schema/event-row.ts";
import type { TestEvent } from "../../../writes/webhook.ts";
import type {
  Attempt,
  Delivery,
  DeliveryKind,
  DeliveryQuery,
  DeliveryState,
  EventRange,
  EventReference,
} from "./rules.ts";

type ShownQuery = DeliveryQuery & { readonly id?: string };

const selectShown = ({ database }: Db, webhookId: string, query: ShownQuery) => {
  const { state, flagKey, before, id } = query;
  return (
    database
      .selectFrom("deliveries")
      .innerJoin("events", "events.id", "deliveries.event_id")
      // Gone, perhaps, once nothing is pending in it.
      .leftJoin("delivery_queues", "delivery_queues.id", "deliveries.queue_id")
      .select((delivery) => [
        "deliveries.position",
        "deliveries.id",
        "deliveries.kind",
        "deliveries.state",
        "deliveries.event_id",
        "deliveries.sequence",
        "deliveries.created_at",
        "deliveries.settled_at",
        "events.type",
        "events.ordering_key",
        "delivery_queues.due_at",
        delivery
          .selectFrom("deliveries as first")
          .select("first.id")
          .whereRef("first.queue_id", "=", "deliveries.queue_id")
          .where("first.state", "=", sql.lit("pending"))
          .whereRef("first.position", "<", "deliveries.position")
          .orderBy("first.position")
          .limit(1)
          .as("behind"),
      ])
      .where("deliveries.webhook_id", "=", webhookId)
      .$if(id !== undefined, (rest) => rest.where("deliveries.id", "=", id ?? ""))
      .$if(state !== undefined, (rest) =>
        rest.where(
          "deliveries.state",
          "=",
          sql.lit(state === "retrying" ? "pending" : (state ?? "")),
        ),
      )
      .$if(state === "retrying", (rest) => rest.where("deliveries.attempts", ">", sql.lit(0)))
      .$if(flagKey !== undefined, (rest) => rest.where("events.ordering_key", "=", flagKey ?? ""))
      .$if(before !== undefined, (rest) =>
        rest.where("deliveries.position", "<", (inner) =>
          inner
            .selectFrom("deliveries as last")
            .select("last.position")
            .where("last.id", "=", before ?? ""),
        ),
      )
      .orderBy("deliveries.position", "desc")
      .limit(query.limit)
  );
};

/** Newest first. */
export const listDeliveries = async (
  db: Db,
  webhookId: string,
  query: ShownQuery,
): Promise<readonly Delivery[]> => {
  // One statement, so that a delivery and its attempts are of the same moment.
  const rows = await db.database
    .selectFrom(selectShown(db, webhookId, query).as("shown"))
    .leftJoin("attempts", "attempts.position", "shown.position")
    .selectAll("shown")
    .select([
      "attempts.at",
      "attempts.milliseconds",
      "attempts.status",
      "attempts.error",
      "attempts.response",
    ])
    .orderBy("shown.position", "desc")
    .orderBy("attempts.number")
    .execute();
  const found = new Map<number, Delivery & { readonly attempts: Attempt[] }>();
  for (const row of rows) {
    const known = found.get(row.position);
    const delivery = known ?? {
      id: row.id,
      kind: row.kind as DeliveryKind,
      state: row.state as DeliveryState,
      event: {
        id: row.event_id,
        type: row.type,
        sequence: row.sequence,
        orderingKey: row.ordering_key,
      },
      createdAt: new Date(row.created_at),
      settledAt: row.settled_at === null ? null : new Date(row.settled_at),
      nextAttemptAt: row.state === "pending" && row.due_at !== null ? new Date(row.due_at) : null,
      behind: row.state === "pending" ? row.behind : null,
      attempts: [],
    };
    if (!known) found.set(row.position, delivery);
    const { at, milliseconds, status, error, response } = row;
    if (at === null || milliseconds === null) continue;
    delivery.attempts.push({ at: new Date(at), milliseconds, status, error, response });
  }
  return [...found.values()];
};

export const findDelivery = async (
  db: Db,
  webhookId: string,
  id: string,
): Promise<Delivery | undefined> => {
  const [found] = await listDeliveries(db, webhookId, { id, limit: 1 });
  return found;
};

export const findEventBody = async (
  { database }: Db,
  eventId: string,
): Promise<Uint8Array | undefined> => {
  const found = await database
    .selectFrom("events")
    .select("body")
    .where("id", "=", eventId)
    .executeTakeFirst();
  return found?.body;
};

/** The first events of a range that have one of these types, oldest first. */
export const listEvents = (
  { database }: Db,
  environmentId: number,
  { afterSequence, throughSequence, from, to }: EventRange,
  types: readonly string[],
  limit: number,
): Promise<readonly EventReference[]> =>
  database
    .selectFrom("events")
    .select(["id", "sequence", "ordering_key as orderingKey"])
    .where("environment_id", "=", environmentId)
    .where("sequence", ">", afterSequence ?? 0)
    .$if(throughSequence !== undefined, (rest) =>
      rest.where("sequence", "<=", throughSequence ?? 0),
    )
    .where("type", "in", types)
    .$if(from !== undefined, (rest) => rest.where("created_at", ">=", from?.getTime() ?? 0))
    .$if(to !== undefined, (rest) => rest.where("created_at", "<=", to?.getTime() ?? 0))
    .orderBy("sequence")
    .limit(limit)
    .execute();

/** An event for one webhook only, not part of the environment's sequence. */
export const insertTestEvent = async (
  { database }: Tx,
  environmentId: number,
  event: TestEvent,
  at: Date,
): Promise<void> => {
  await insertEventRow.send(database, {
    ...event,
    environmentId,
    sequence: null,
    orderingKey: null,
    createdAt: at.getTime(),
  });
};
