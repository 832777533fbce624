// The running instances: what each and its clients have applied.
import type { SchemaModule } from "kysely";
import type { DatabaseTraits } from "../dialect.ts";

export const instances = async (schema: SchemaModule, traits: DatabaseTraits): Promise<void> => {
  await schema
    .createTable("instances")
    .addColumn("id", traits.text, (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("version", "text", (column) => column.notNull())
    .addColumn("started_at", "bigint", (column) => column.notNull())
    .addColumn("seen_at", "bigint", (column) => column.notNull())
    .addColumn("clock", "bigint", (column) => column.notNull())
    .addColumn("body", "text", (column) => column.notNull())
    .execute();
};
