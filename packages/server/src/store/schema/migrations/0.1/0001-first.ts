// The first schema.
import { type SchemaModule, sql } from "kysely";
import type { DatabaseTraits } from "../../dialect.ts";

export const first = async (schema: SchemaModule, traits: DatabaseTraits): Promise<void> => {
  await traits
    .withIdentity(schema.createTable("environments"), "id")
    .addColumn("name", traits.text, (column) => column.notNull().unique())
    .addColumn("revision", "bigint", (column) => column.notNull())
    .addColumn("sequence", "bigint", (column) => column.notNull())
    .addColumn("flag_count", "integer", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .execute();

  await schema
    .createTable("api_keys")
    .addColumn("id", traits.text, (column) => column.primaryKey())
    .addColumn("environment_id", "bigint", (column) =>
      column.notNull().references("environments.id").onDelete("cascade"),
    )
    .addColumn("name", traits.text, (column) => column.notNull())
    .addColumn("role", "text", (column) => column.notNull())
    .addColumn("hash", traits.bytes, (column) => column.notNull().unique())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("revoked_at", "bigint")
    .execute();
  await schema
    .createIndex("api_keys_by_environment")
    .on("api_keys")
    .column("environment_id")
    .execute();

  await schema
    .createTable("flags")
    .addColumn("environment_id", "bigint", (column) =>
      column.notNull().references("environments.id").onDelete("cascade"),
    )
    .addColumn("key", traits.text, (column) => column.notNull())
    .addColumn("type", "text", (column) => column.notNull())
    .addColumn("enabled", "integer", (column) => column.notNull())
    .addColumn("thousandths", "integer")
    .addColumn("description", "text")
    .addColumn("version", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("flags_key", ["environment_id", "key"])
    .execute();

  await traits
    .withIdentity(schema.createTable("history"), "id")
    .addColumn("environment_id", "bigint", (column) =>
      column.notNull().references("environments.id").onDelete("cascade"),
    )
    .addColumn("revision", "bigint")
    .addColumn("subject", traits.text, (column) => column.notNull())
    .addColumn("subject_id", traits.text, (column) => column.notNull())
    .addColumn("version", "bigint")
    .addColumn("at", "bigint", (column) => column.notNull())
    .addColumn("actor_key_id", "text")
    .addColumn("actor_name", "text", (column) => column.notNull())
    .addColumn("actions", "text", (column) => column.notNull())
    .addColumn("before", "text")
    .addColumn("after", "text")
    .execute();
  await schema
    .createIndex("history_by_subject")
    .on("history")
    .columns(["environment_id", "subject", "subject_id", "id"])
    .execute();
  await schema
    .createIndex("history_by_environment")
    .on("history")
    .columns(["environment_id", "id"])
    .execute();
  await schema
    .createIndex("history_without_flags")
    .on("history")
    .columns(["environment_id", "subject", "id"])
    .where(sql.ref("revision"), "is", null)
    .execute();
  await schema
    .createIndex("history_by_revision")
    .unique()
    .on("history")
    .columns(["environment_id", "revision"])
    .execute();

  await schema
    .createTable("events")
    .addColumn("id", traits.text, (column) => column.primaryKey())
    .addColumn("environment_id", "bigint", (column) =>
      column.notNull().references("environments.id").onDelete("cascade"),
    )
    .addColumn("sequence", "bigint")
    .addColumn("type", "text", (column) => column.notNull())
    .addColumn("flag_key", traits.text)
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("body", traits.bytes, (column) => column.notNull())
    .execute();
  await schema
    .createIndex("events_by_sequence")
    .unique()
    .on("events")
    .columns(["environment_id", "sequence"])
    .execute();
  await schema.createIndex("events_by_time").on("events").column("created_at").execute();
  await schema
    .createIndex("events_by_environment_and_time")
    .on("events")
    .columns(["environment_id", "created_at"])
    .execute();

  await schema
    .createTable("answers")
    .addColumn("key_id", traits.text, (column) =>
      column.notNull().references("api_keys.id").onDelete("cascade"),
    )
    .addColumn("name", traits.text, (column) => column.notNull())
    .addColumn("fingerprint", "text", (column) => column.notNull())
    .addColumn("sealed", traits.bytes, (column) => column.notNull())
    .addColumn("expires_at", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("answers_key", ["key_id", "name"])
    .execute();
  await schema.createIndex("answers_by_expiry").on("answers").column("expires_at").execute();
};
