// Replays and removals that are continued in parts; what it takes to forget revoked keys and idempotency records.
import { type SchemaModule, sql } from "kysely";
import type { DatabaseTraits } from "../dialect.ts";

export const replays = async (schema: SchemaModule, traits: DatabaseTraits): Promise<void> => {
  await schema
    .createTable("replays")
    .addColumn("webhook_id", traits.text, (column) =>
      column.primaryKey().references("webhooks.id").onDelete("cascade"),
    )
    .addColumn("reached", "bigint", (column) => column.notNull())
    .addColumn("last_sequence", "bigint", (column) => column.notNull())
    .addColumn("from_time", "bigint")
    .addColumn("to_time", "bigint")
    .addColumn("replayed", "bigint", (column) => column.notNull())
    .addColumn("through_sequence", "bigint")
    .addColumn("state", "text", (column) => column.notNull())
    .addColumn("started_at", "bigint", (column) => column.notNull())
    .addColumn("ended_at", "bigint")
    .execute();

  await schema
    .createTable("removed_environments")
    .addColumn("id", "bigint", (column) => column.primaryKey())
    .addColumn("name", traits.text, (column) => column.notNull())
    .addColumn("flags", "integer", (column) => column.notNull())
    .addColumn("webhooks", "integer", (column) => column.notNull())
    .addColumn("keys", "integer", (column) => column.notNull())
    .addColumn("began_at", "bigint", (column) => column.notNull())
    .addColumn("ended_at", "bigint")
    .execute();
  // Keys of before may have been given by the operator.
  await schema
    .alterTable("api_keys")
    .addColumn("given", "integer", (column) => column.notNull().defaultTo(sql.lit(1)))
    .execute();
  await schema
    .createIndex("answers_by_key_and_expiry")
    .on("answers")
    .columns(["key_id", "expires_at"])
    .execute();
};
