// Locks many ordering queues in the one order that all transactions use, before a statement that would lock them in any order.
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { DatabaseTraits } from "../../../platform/database/schema/dialect.ts";
import type { Database, Tables } from "../../../platform/database/schema/tables.ts";

export const lockQueues = async (
  database: Database,
  traits: DatabaseTraits,
  which: (queue: ExpressionBuilder<Tables, "delivery_queues">) => Expression<SqlBool>,
): Promise<void> => {
  if (!traits.locksRows) return;
  await database
    .selectFrom("delivery_queues")
    .select("id")
    .where(which)
    .orderBy("webhook_id")
    .orderBy("ordering_key")
    .orderBy("priority")
    .$call(traits.locked)
    .execute();
};
