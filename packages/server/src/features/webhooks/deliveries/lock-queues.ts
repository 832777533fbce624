// Locks many ordering queues in the one order that all transactions use, before a statement that would lock them in any order.
import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { Db } from "../../../platform/database/db.ts";
import type { Tables } from "../../../platform/database/schema/tables.ts";

export const lockQueues = async (
  { database, dialect }: Pick<Db, "database" | "dialect">,
  which: (queue: ExpressionBuilder<Tables, "delivery_queues">) => Expression<SqlBool>,
): Promise<void> => {
  if (!dialect.locksRows) return;
  await database
    .selectFrom("delivery_queues")
    .select("id")
    .where(which)
    .orderBy("webhook_id")
    .orderBy("ordering_key")
    .orderBy("priority")
    .$call(dialect.locked)
    .execute();
};
