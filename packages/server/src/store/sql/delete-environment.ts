// Deletes an environment with everything in it, table by table as the list of tables says.
import { sql } from "kysely";
import { lockQueues } from "../outbox/lock-queues.ts";
import type { DatabaseTraits } from "../schema/dialect.ts";
import { tableFacts, tableNames } from "../schema/table-facts.ts";
import type { Database } from "../schema/tables.ts";

/** Locks are taken in the order that everyone keeps, and rows before those that refer to them. */
export const deleteEnvironment = async (
  database: Database,
  traits: DatabaseTraits,
  id: number,
): Promise<void> => {
  const webhooks = database.selectFrom("webhooks").select("id").where("environment_id", "=", id);
  await webhooks.orderBy("id").$call(traits.locked).execute();
  await lockQueues(database, traits, (queue) => queue("webhook_id", "in", webhooks));
  for (const table of tableNames) {
    // What belongs to it through another table is deleted with that one.
    if (tableFacts[table].belongsTo !== "environment") continue;
    await sql`delete from ${sql.table(table)} where environment_id = ${id}`.execute(database);
  }
  await database.deleteFrom("environments").where("id", "=", id).execute();
  await traits.notify(database);
};
