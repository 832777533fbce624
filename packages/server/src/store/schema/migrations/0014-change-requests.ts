// Change requests: what waits for a second person, and what was said about it; and how a change came into a protected environment.
import { type SchemaModule, sql } from "kysely";
import type { DatabaseTraits } from "../dialect.ts";

const no = sql.lit(0);

export const changeRequests = async (
  schema: SchemaModule,
  traits: DatabaseTraits,
): Promise<void> => {
  await schema
    .createTable("change_requests")
    .addColumn("id", traits.text, (column) => column.primaryKey())
    .addColumn("environment_id", "integer", (column) =>
      column.notNull().references("environments.id"),
    )
    .addColumn("state", "text", (column) => column.notNull())
    .addColumn("title", "text", (column) => column.notNull())
    .addColumn("reason", "text")
    .addColumn("author", "text", (column) => column.notNull())
    .addColumn("authors", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("updated_at", "bigint", (column) => column.notNull())
    .addColumn("apply_at", "bigint")
    .addColumn("applied_at", "bigint")
    .addColumn("applied_revision", "bigint")
    .addColumn("closed_by", "text")
    .addColumn("bypass", "text")
    .addColumn("summary", "text", (column) => column.notNull())
    .addColumn("operations", "text", (column) => column.notNull())
    .execute();
  await schema
    .createIndex("change_requests_by_time")
    .on("change_requests")
    .columns(["environment_id", "created_at", "id"])
    .execute();
  await schema
    .createIndex("change_requests_by_state")
    .on("change_requests")
    .columns(["environment_id", "state", "created_at", "id"])
    .execute();
  await schema
    .createIndex("change_requests_due")
    .on("change_requests")
    .column("apply_at")
    .where(sql.ref("state"), "=", sql.lit("approved"))
    .execute();

  await schema
    .createTable("change_request_entries")
    .addColumn("request_id", traits.text, (column) =>
      column.notNull().references("change_requests.id").onDelete("cascade"),
    )
    .addColumn("number", "integer", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("actor", "text", (column) => column.notNull())
    .addColumn("text", "text")
    .addColumn("voided", "integer", (column) => column.notNull().defaultTo(no))
    .addPrimaryKeyConstraint("change_request_entries_key", ["request_id", "number"])
    .execute();

  await schema.alterTable("history").addColumn("review", "text").execute();
  await schema.alterTable("api_keys").addColumn("created_by", traits.text).execute();
};
