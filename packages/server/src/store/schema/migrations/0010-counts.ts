// What the health of a webhook is read from: the counts of its attempts, and indexes of what is pending. When flags began.
import { type SchemaModule, sql } from "kysely";
import type { DatabaseTraits } from "../dialect.ts";

export const counts = async (schema: SchemaModule, traits: DatabaseTraits): Promise<void> => {
  // Without a reference to webhooks: who records an outcome must not wait for who deletes the webhook, and the other way
  // round. What is left over goes with its age.
  await schema
    .createTable("attempt_counts")
    .addColumn("webhook_id", traits.text, (column) => column.notNull())
    .addColumn("slot", "bigint", (column) => column.notNull())
    .addColumn("succeeded", "bigint", (column) => column.notNull())
    .addColumn("failed", "bigint", (column) => column.notNull())
    .addColumn("last_success_at", "bigint")
    .addColumn("last_failure_at", "bigint")
    .addColumn("last_error", "text")
    .addPrimaryKeyConstraint("attempt_counts_key", ["webhook_id", "slot"])
    .execute();
  await schema.createIndex("attempt_counts_by_slot").on("attempt_counts").column("slot").execute();
  await schema
    .createIndex("deliveries_pending_by_webhook")
    .on("deliveries")
    .columns(["webhook_id", "position"])
    .where(sql.ref("state"), "=", sql.lit("pending"))
    .execute();
  await schema
    .createIndex("deliveries_retrying")
    .on("deliveries")
    .columns(["webhook_id", "position"])
    .where(sql.ref("state"), "=", sql.lit("pending"))
    .where(sql.ref("attempts"), ">", sql.lit(0))
    .execute();
  await schema
    .createIndex("history_of_creations")
    .on("history")
    .columns(["environment_id", "subject", "subject_id", "id"])
    .where(sql.ref("before"), "is", null)
    .execute();
};
