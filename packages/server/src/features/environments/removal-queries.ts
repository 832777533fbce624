// Deletes an environment with everything in it, a few rows at a time, table by table as the list of tables says.
import { sql } from "kysely";
import type { Actor } from "../../platform/auth/principal.ts";
import type { Tx } from "../../platform/database/db.ts";
import { tableFacts, tableNames } from "../../platform/database/schema/table-facts.ts";
import type { Tables } from "../../platform/database/schema/tables.ts";
import type { Environment } from "../../platform/environments.ts";
import { deleteOldestDeliveries } from "../webhooks/queries.ts";

/** How the rows of a table are found that belong to an environment; undefined for those that go with the rows of another. */
const ownedBy = (table: keyof Tables, id: number) => {
  switch (tableFacts[table].belongsTo) {
    case "environment":
      return sql`environment_id = ${id}`;
    case "webhooks":
      return sql`webhook_id in (select id from webhooks where environment_id = ${id})`;
    case "change_requests":
      return sql`request_id in (select id from change_requests where environment_id = ${id})`;
    case "api_keys":
      return sql`key_id in (select id from api_keys where environment_id = ${id})`;
    default:
      return undefined;
  }
};

/** Those that refer to others come first. */
const fromTheEnd = tableNames.toReversed();

/** Begins its removal, and records that: from now on neither its keys nor its webhooks work. */
export const closeEnvironment = async (
  { database, dialect, signal }: Tx,
  { id, name, flagCount }: Environment,
  at: Date,
  actor: Actor,
): Promise<void> => {
  signal.audit.push({
    actions: ["environment.deleted"],
    environmentId: id,
    subject: "environment",
    id: name,
    actor,
  });
  const time = at.getTime();
  const webhooks = database.selectFrom("webhooks").select("id").where("environment_id", "=", id);
  const locked = await webhooks.orderBy("id").$call(dialect.locked).execute();
  await database
    .updateTable("webhooks")
    .set({ active: 0 })
    .where("environment_id", "=", id)
    .execute();
  const keys = await database
    .updateTable("api_keys")
    .set({ revoked_at: time })
    .where("environment_id", "=", id)
    .where("revoked_at", "is", null)
    .returning(["id", "kind"])
    .execute();
  await database
    .updateTable("environments")
    .set(({ eb }) => ({ keys_revision: eb("keys_revision", "+", 1) }))
    .where("id", "=", id)
    .execute();
  // People have access, but no key.
  const held = keys.filter(({ kind }) => kind === "key");
  const counts = { flags: flagCount, webhooks: locked.length, keys: held.length };
  await database
    .insertInto("removed_environments")
    .values({ id, name, ...counts, began_at: time, ended_at: null, actor: JSON.stringify(actor) })
    // It was interrupted, and what it held is known already.
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
  signal.revokedKeys.push(...keys.map((key) => key.id));
  await dialect.notify(database);
};

/** Deletes at most `limit` rows of it and returns their number: 0 once it is gone itself. */
export const deleteEnvironmentPart = async (
  { database, dialect }: Tx,
  id: number,
  limit: number,
  at: Date,
): Promise<number> => {
  const [busy] = await database
    .selectFrom("deliveries")
    .innerJoin("webhooks", "webhooks.id", "deliveries.webhook_id")
    .select("deliveries.webhook_id")
    .where("webhooks.environment_id", "=", id)
    .limit(1)
    .execute();
  if (busy) return deleteOldestDeliveries({ database, dialect }, busy.webhook_id, limit);
  for (const table of fromTheEnd) {
    const owned = ownedBy(table, id);
    if (!owned) continue;
    const key = sql.join(tableFacts[table].key.map((column) => sql.ref(column)));
    const deleted = await sql`delete from ${sql.table(table)} where (${key}) in
        (select ${key} from ${sql.table(table)} where ${owned} limit ${limit})`.execute(database);
    const count = Number(deleted.numAffectedRows ?? 0);
    if (count > 0) return count;
  }
  await database.deleteFrom("environments").where("id", "=", id).execute();
  await database
    .updateTable("removed_environments")
    .set({ ended_at: at.getTime() })
    .where("id", "=", id)
    .execute();
  await dialect.notify(database);
  return 0;
};
