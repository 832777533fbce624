// People: accounts, what they sign in with, their sessions and their access to environments; and what environments are told apart by.
import { type SchemaModule, sql } from "kysely";
import type { DatabaseTraits } from "../dialect.ts";

const no = sql.lit(0);

export const people = async (schema: SchemaModule, traits: DatabaseTraits): Promise<void> => {
  await schema
    .createTable("users")
    .addColumn("id", traits.text, (column) => column.primaryKey())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("email", "text")
    .addColumn("email_key", traits.text, (column) => column.unique())
    .addColumn("owner", "integer", (column) => column.notNull())
    .addColumn("owner_from_group", "integer", (column) => column.notNull().defaultTo(no))
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("signed_in_at", "bigint")
    .addColumn("rights_at", "bigint", (column) => column.notNull())
    .addColumn("password", "text")
    .addColumn("totp", traits.bytes)
    .addColumn("totp_step", "bigint", (column) => column.notNull().defaultTo(no))
    .addColumn("recovery", "text")
    .execute();

  await schema
    .createTable("identities")
    .addColumn("issuer", traits.text, (column) => column.notNull())
    .addColumn("subject", traits.text, (column) => column.notNull())
    .addColumn("user_id", traits.text, (column) =>
      column.notNull().references("users.id").onDelete("cascade"),
    )
    .addPrimaryKeyConstraint("identities_key", ["issuer", "subject"])
    .execute();
  await schema.createIndex("identities_by_user").on("identities").column("user_id").execute();

  await schema.alterTable("api_keys").addColumn("user_id", traits.text).execute();
  // A person's access to an environment is a key that nobody has the text of.
  await schema
    .alterTable("api_keys")
    .addColumn("kind", "text", (column) => column.notNull().defaultTo(sql.lit("key")))
    .execute();
  await schema
    .alterTable("api_keys")
    .addColumn("from_group", "integer", (column) => column.notNull().defaultTo(no))
    .execute();
  await schema.alterTable("api_keys").addColumn("hand_role", "text").execute();
  await schema
    .alterTable("api_keys")
    .addColumn("writes_directly", "integer", (column) => column.notNull().defaultTo(no))
    .execute();
  await schema.createIndex("api_keys_by_user").on("api_keys").column("user_id").execute();

  await schema.alterTable("sign_in_links").addColumn("user_id", traits.text).execute();
  await schema.alterTable("sign_in_links").addColumn("invited_by", traits.text).execute();

  await schema.alterTable("sessions").addColumn("id", traits.text).execute();
  await schema.alterTable("sessions").addColumn("user_id", traits.text).execute();
  await schema
    .alterTable("sessions")
    .addColumn("owner", "integer", (column) => column.notNull().defaultTo(no))
    .execute();
  for (const column of ["created_at", "signed_in_at", "rights_at"] as const) {
    await schema.alterTable("sessions").addColumn(column, "bigint").execute();
  }
  for (const column of ["method", "address", "agent"] as const) {
    await schema.alterTable("sessions").addColumn(column, "text").execute();
  }
  await schema.alterTable("sessions").addColumn("provider_token", traits.bytes).execute();
  await schema.createIndex("sessions_by_user").on("sessions").column("user_id").execute();

  for (const column of ["label", "color"] as const) {
    await schema.alterTable("environments").addColumn(column, "text").execute();
  }
  await schema
    .alterTable("environments")
    .addColumn("protected", "integer", (column) => column.notNull().defaultTo(no))
    .execute();
  await schema.alterTable("environments").addColumn("expires_at", "bigint").execute();
  await schema.alterTable("environments").addColumn("copy_of", "bigint").execute();
  await schema.alterTable("removed_environments").addColumn("actor", "text").execute();

  for (const column of ["actor_user_id", "actor_user_name"] as const) {
    await schema.alterTable("history").addColumn(column, "text").execute();
  }
  await schema
    .createIndex("history_by_actor_user")
    .on("history")
    .columns(["environment_id", "actor_user_id", "at", "id"])
    .where(sql.ref("actor_user_id"), "is not", null)
    .execute();
};
