// What followers compare, and the counts of evaluations.
import type { SchemaModule } from "kysely";
import type { DatabaseTraits } from "../../dialect.ts";

export const evaluation = async (schema: SchemaModule, traits: DatabaseTraits): Promise<void> => {
  await schema
    .alterTable("environments")
    .addColumn("keys_revision", "bigint", (column) => column.notNull().defaultTo(0))
    .execute();

  await schema
    .createTable("usage")
    .addColumn("environment_id", "bigint", (column) =>
      column.notNull().references("environments.id").onDelete("cascade"),
    )
    .addColumn("flag_key", traits.text, (column) => column.notNull())
    .addColumn("hour", "bigint", (column) => column.notNull())
    .addColumn("on_count", "bigint", (column) => column.notNull())
    .addColumn("off_count", "bigint", (column) => column.notNull())
    .addColumn("last_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("usage_key", ["environment_id", "flag_key", "hour"])
    .execute();
  await schema
    .createIndex("usage_by_hour")
    .on("usage")
    .columns(["environment_id", "hour"])
    .execute();
};
