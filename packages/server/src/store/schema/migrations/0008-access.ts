// Keys that expire or belong to certain pages, and the sessions of the dashboard.
import type { SchemaModule } from "kysely";
import type { DatabaseTraits } from "../dialect.ts";

export const access = async (schema: SchemaModule, traits: DatabaseTraits): Promise<void> => {
  await schema.alterTable("api_keys").addColumn("expires_at", "bigint").execute();
  await schema.alterTable("api_keys").addColumn("origins", "text").execute();
  await schema
    .createTable("sessions")
    .addColumn("hash", traits.bytes, (column) => column.primaryKey())
    .addColumn("key_ids", "text", (column) => column.notNull())
    .addColumn("used_at", "bigint", (column) => column.notNull())
    .addColumn("ends_at", "bigint", (column) => column.notNull())
    .execute();
  await schema.createIndex("sessions_by_end").on("sessions").column("ends_at").execute();
};
