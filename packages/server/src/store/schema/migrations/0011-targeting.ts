// Segments with their members, what flags name outside themselves, and the counts of variants and rules.
import type { SchemaModule } from "kysely";
import type { DatabaseTraits } from "../dialect.ts";

export const targeting = async (schema: SchemaModule, traits: DatabaseTraits): Promise<void> => {
  for (const [name, type] of [
    ["segment_count", "integer"],
    ["definition_bytes", "bigint"],
  ] as const) {
    await schema
      .alterTable("environments")
      .addColumn(name, type, (column) => column.notNull().defaultTo(0))
      .execute();
  }
  await schema.alterTable("environments").addColumn("changed_at", "bigint").execute();

  await schema
    .createTable("segments")
    .addColumn("environment_id", "bigint", (column) =>
      column.notNull().references("environments.id").onDelete("cascade"),
    )
    .addColumn("key", traits.text, (column) => column.notNull())
    .addColumn("description", "text")
    .addColumn("condition", "text")
    .addColumn("include_count", "integer", (column) => column.notNull())
    .addColumn("exclude_count", "integer", (column) => column.notNull())
    .addColumn("version", "integer", (column) => column.notNull())
    .addPrimaryKeyConstraint("segments_key", ["environment_id", "key"])
    .execute();
  await schema
    .createTable("segment_members")
    .addColumn("environment_id", "bigint", (column) =>
      column.notNull().references("environments.id").onDelete("cascade"),
    )
    .addColumn("segment_key", traits.text, (column) => column.notNull())
    .addColumn("list", traits.text, (column) => column.notNull())
    .addColumn("member", traits.text, (column) => column.notNull())
    .addPrimaryKeyConstraint("segment_members_key", [
      "environment_id",
      "segment_key",
      "list",
      "member",
    ])
    .execute();

  await schema
    .createTable("flag_references")
    .addColumn("environment_id", "bigint", (column) =>
      column.notNull().references("environments.id").onDelete("cascade"),
    )
    .addColumn("flag_key", traits.text, (column) => column.notNull())
    .addColumn("kind", traits.text, (column) => column.notNull())
    .addColumn("key", traits.text, (column) => column.notNull())
    .addColumn("variant", "text")
    .addPrimaryKeyConstraint("flag_references_key", ["environment_id", "flag_key", "kind", "key"])
    .execute();
  await schema
    .createIndex("flag_references_by_key")
    .on("flag_references")
    .columns(["environment_id", "kind", "key"])
    .execute();

  await schema
    .createTable("usage_counts")
    .addColumn("environment_id", "bigint", (column) =>
      column.notNull().references("environments.id").onDelete("cascade"),
    )
    .addColumn("flag_key", traits.text, (column) => column.notNull())
    .addColumn("hour", "bigint", (column) => column.notNull())
    .addColumn("kind", traits.text, (column) => column.notNull())
    .addColumn("name", traits.text, (column) => column.notNull())
    .addColumn("count", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("usage_counts_key", [
      "environment_id",
      "flag_key",
      "hour",
      "kind",
      "name",
    ])
    .execute();
  await schema
    .createIndex("usage_counts_by_hour")
    .on("usage_counts")
    .columns(["environment_id", "hour"])
    .execute();
};
