// The place of the oldest pending delivery of an ordering queue, for queries of queues; null when there is none.
import { type ExpressionBuilder, sql } from "kysely";
import type { Tables } from "../../../platform/database/schema/tables.ts";

/**
 * By one look at the index, however many there are. With `exists`, or grouped by queue, PostgreSQL without fresh statistics
 * reads all that is pending.
 */
export const oldestPending = (queue: ExpressionBuilder<Tables, "delivery_queues">) =>
  queue
    .selectFrom("deliveries as pending")
    .select(({ fn }) => fn.min<number | null>("pending.position").as("position"))
    .whereRef("pending.queue_id", "=", "delivery_queues.id")
    .where("pending.state", "=", sql.lit("pending"));
