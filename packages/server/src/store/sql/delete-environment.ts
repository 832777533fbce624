// Deletes an environment with everything in it, table by table as the list of tables says.
import { type Kysely, type RawBuilder, sql } from "kysely";
import { lockQueues } from "../outbox/lock-queues.ts";
import type { DatabaseTraits } from "../schema/dialect.ts";
import { type TableFacts, tableFacts, tableNames } from "../schema/table-facts.ts";
import type { Tables } from "../schema/tables.ts";

/** Which rows of a table belong to the environment; undefined when none can. */
const belongs = (table: keyof Tables, environmentId: number): RawBuilder<unknown> | undefined => {
  const { environment }: TableFacts = tableFacts[table];
  if (!environment) return undefined;
  const column = sql.ref(environment.column);
  if (!("owner" in environment)) return sql`${column} = ${environmentId}`;
  const { owner } = environment;
  return sql`${column} in (select ${sql.ref(owner.column)} from ${sql.table(owner.table)} where ${belongs(owner.table, environmentId) ?? sql`false`})`;
};

export const deleteEnvironment = async (
  database: Kysely<Tables>,
  traits: DatabaseTraits,
  id: number,
): Promise<void> => {
  await lockQueues(database, traits, (queue) =>
    queue("webhook_id", "in", (webhooks) =>
      webhooks.selectFrom("webhooks").select("webhooks.id").where("environment_id", "=", id),
    ),
  );
  for (const table of tableNames.toReversed()) {
    const rows = belongs(table, id);
    if (rows) await sql`delete from ${sql.table(table)} where ${rows}`.execute(database);
  }
  await database.deleteFrom("environments").where("id", "=", id).execute();
  await traits.notify(database);
};
