// Links that sign in to the dashboard once: their hash, the keys that they stand for, and when they end.
import type { SchemaModule } from "kysely";
import type { DatabaseTraits } from "../../dialect.ts";

export const signInLinks = async (schema: SchemaModule, traits: DatabaseTraits): Promise<void> => {
  await schema
    .createTable("sign_in_links")
    .addColumn("hash", traits.bytes, (column) => column.primaryKey())
    .addColumn("key_ids", "text", (column) => column.notNull())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .execute();
};
