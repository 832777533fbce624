// The reads of ports.ts that concern deliveries and their events.
import { type Kysely, sql } from "kysely";
import type { Attempt, Delivery, DeliveryKind, DeliveryState } from "../domain/delivery.ts";
import type { DeliveryQuery, Reader } from "../ports.ts";
import type { Tables } from "./tables.ts";

type DeliveryReads = Pick<Reader, "deliveries" | "delivery" | "events">;

export const deliveryReads = (database: Kysely<Tables>): DeliveryReads => {
  const attemptsOf = async (
    positions: readonly number[],
  ): Promise<ReadonlyMap<number, Attempt[]>> => {
    const found = new Map<number, Attempt[]>(positions.map((position) => [position, []]));
    if (positions.length === 0) return found;
    const rows = await database
      .selectFrom("attempts")
      .selectAll()
      .where("position", "in", positions)
      .orderBy("position")
      .orderBy("number")
      .execute();
    for (const { position, at, milliseconds, status, error, response } of rows) {
      found.get(position)?.push({ at: new Date(at), milliseconds, status, error, response });
    }
    return found;
  };

  const read = async (
    webhookId: string,
    query: DeliveryQuery & { readonly id?: string },
  ): Promise<Delivery[]> => {
    const { state, flagKey, before, id } = query;
    const rows = await database
      .selectFrom("deliveries")
      .innerJoin("events", "events.id", "deliveries.event_id")
      .innerJoin("lanes", "lanes.id", "deliveries.lane_id")
      .select([
        "deliveries.position",
        "deliveries.id",
        "deliveries.kind",
        "deliveries.state",
        "deliveries.event_id",
        "deliveries.sequence",
        "deliveries.created_at",
        "deliveries.settled_at",
        "events.type",
        "events.flag_key",
        "lanes.due_at",
      ])
      .where("deliveries.webhook_id", "=", webhookId)
      .$if(id !== undefined, (rest) => rest.where("deliveries.id", "=", id ?? ""))
      .$if(state !== undefined, (rest) => rest.where("deliveries.state", "=", sql.lit(state ?? "")))
      .$if(flagKey !== undefined, (rest) => rest.where("events.flag_key", "=", flagKey ?? ""))
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
      .execute();
    const attempts = await attemptsOf(rows.map(({ position }) => position));
    return rows.map((row) => ({
      id: row.id,
      kind: row.kind as DeliveryKind,
      state: row.state as DeliveryState,
      event: {
        id: row.event_id,
        type: row.type,
        sequence: row.sequence,
        flagKey: row.flag_key,
      },
      createdAt: new Date(row.created_at),
      settledAt: row.settled_at === null ? null : new Date(row.settled_at),
      nextAttemptAt: row.state === "pending" && row.due_at !== null ? new Date(row.due_at) : null,
      attempts: attempts.get(row.position) ?? [],
    }));
  };

  return {
    deliveries: read,

    async delivery(webhookId, id) {
      const [found] = await read(webhookId, { id, limit: 1 });
      return found;
    },

    async events(environmentId, { afterSequence, from, to }, types, limit) {
      const rows = await database
        .selectFrom("events")
        .select(["id", "sequence", "flag_key"])
        .where("environment_id", "=", environmentId)
        .where("sequence", ">", afterSequence ?? 0)
        .where("type", "in", types)
        .$if(from !== undefined, (rest) => rest.where("created_at", ">=", from?.getTime() ?? 0))
        .$if(to !== undefined, (rest) => rest.where("created_at", "<=", to?.getTime() ?? 0))
        .orderBy("sequence")
        .limit(limit)
        .execute();
      return rows.map(({ id, sequence, flag_key }) => ({ id, sequence, flagKey: flag_key }));
    },
  };
};
