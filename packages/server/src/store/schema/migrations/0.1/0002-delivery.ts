// Webhooks, and what is on its way to them.
import { type SchemaModule, sql } from "kysely";
import type { DatabaseTraits } from "../../dialect.ts";

export const delivery = async (schema: SchemaModule, traits: DatabaseTraits): Promise<void> => {
  await schema
    .createTable("webhooks")
    .addColumn("id", traits.text, (column) => column.primaryKey())
    .addColumn("environment_id", "bigint", (column) =>
      column.notNull().references("environments.id").onDelete("cascade"),
    )
    .addColumn("url", "text", (column) => column.notNull())
    .addColumn("events", "text", (column) => column.notNull())
    .addColumn("active", "integer", (column) => column.notNull())
    .addColumn("secret", traits.bytes, (column) => column.notNull())
    .addColumn("previous_secret", traits.bytes)
    .addColumn("previous_until", "bigint")
    .addColumn("failing_since", "bigint")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .execute();
  await schema
    .createIndex("webhooks_by_environment")
    .on("webhooks")
    .column("environment_id")
    .execute();

  await traits
    .withIdentity(schema.createTable("lanes"), "id")
    .addColumn("webhook_id", traits.text, (column) =>
      column.notNull().references("webhooks.id").onDelete("cascade"),
    )
    .addColumn("flag_key", traits.text, (column) => column.notNull())
    .addColumn("priority", "integer", (column) => column.notNull())
    .addColumn("due_at", "bigint")
    .addColumn("not_before", "bigint", (column) => column.notNull().defaultTo(0))
    .addColumn("lease_id", traits.text)
    .addColumn("lease_until", "bigint", (column) => column.notNull())
    .execute();
  await schema
    .createIndex("lanes_by_flag")
    .unique()
    .on("lanes")
    .columns(["webhook_id", "flag_key", "priority"])
    .execute();
  await schema
    .createIndex("lanes_due")
    .on("lanes")
    .columns(["webhook_id", "priority", "due_at"])
    .where(sql.ref("due_at"), "is not", null)
    .execute();

  await traits
    .withIdentity(schema.createTable("deliveries"), "position")
    .addColumn("id", traits.text, (column) => column.notNull().unique())
    .addColumn("webhook_id", traits.text, (column) =>
      column.notNull().references("webhooks.id").onDelete("cascade"),
    )
    .addColumn("lane_id", "bigint", (column) => column.notNull())
    .addColumn("event_id", traits.text, (column) =>
      column.notNull().references("events.id").onDelete("cascade"),
    )
    .addColumn("sequence", "bigint")
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("state", traits.text, (column) => column.notNull())
    .addColumn("attempts", "integer", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("settled_at", "bigint")
    .execute();
  await schema
    .createIndex("deliveries_pending")
    .on("deliveries")
    .columns(["lane_id", "position"])
    .where(sql.ref("state"), "=", sql.lit("pending"))
    .execute();
  await schema
    .createIndex("deliveries_failed")
    .on("deliveries")
    .columns(["webhook_id", "position"])
    .where(sql.ref("state"), "=", sql.lit("failed"))
    .execute();
  await schema
    .createIndex("deliveries_by_webhook")
    .on("deliveries")
    .columns(["webhook_id", "position"])
    .execute();
  await schema.createIndex("deliveries_by_event").on("deliveries").column("event_id").execute();

  await schema
    .createTable("attempts")
    .addColumn("position", "bigint", (column) =>
      column.notNull().references("deliveries.position").onDelete("cascade"),
    )
    .addColumn("number", "integer", (column) => column.notNull())
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("milliseconds", "integer", (column) => column.notNull())
    .addColumn("status", "integer")
    .addColumn("error", "text")
    .addColumn("response", "text")
    .addPrimaryKeyConstraint("attempts_key", ["position", "number"])
    .execute();
};
