// Why a change was made, and the history by kind, by actor and by time.
import { type SchemaModule, sql } from "kysely";

/** Each filter has an index in the order of the page, so that its first page reads what it shows and nothing else. */
const indexes = {
  history_by_time: [],
  history_by_kind_and_time: ["subject"],
  history_by_actor_name: ["actor_name"],
  history_by_actor_key: ["actor_key_id"],
} as const;

const deletions = {
  history_of_deletions: [],
  history_of_deletions_by_kind: ["subject"],
} as const;

export const reasons = async (schema: SchemaModule): Promise<void> => {
  for (const [name, columns] of Object.entries(indexes)) {
    await schema
      .createIndex(name)
      .on("history")
      .columns(["environment_id", ...columns, "at", "id"])
      .execute();
  }
  for (const [name, columns] of Object.entries(deletions)) {
    await schema
      .createIndex(name)
      .on("history")
      .columns(["environment_id", ...columns, "at", "id"])
      .where(sql.ref("after"), "is", null)
      .execute();
  }
  // Last: on PostgreSQL nobody can read the table from here to the end of the transaction.
  await schema.alterTable("history").addColumn("reason", "text").execute();
};
