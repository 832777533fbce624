// The chain of history: what is there is chained, oldest first, and an entry says so.
import { genesis } from "@halyard/core/history/chain";
import { type SchemaModule, sql } from "kysely";
import { halyard } from "../../../domain/principal.ts";
import { appendEntry, chainRows } from "../chain.ts";
import type { DatabaseTraits } from "../dialect.ts";
import type { MigrationRun } from "../migration-run.ts";

const chainWhatIsThere = async ({ database, onProgress }: MigrationRun): Promise<void> => {
  const environments = await database
    .selectFrom("environments")
    .select(["id", "name"])
    .orderBy("name")
    .execute();
  let done = 0;
  for (const { id, name } of environments) {
    const { head, rows } = await chainRows(database, id, { name, chain: genesis }, 0, (count) => {
      done += count;
      onProgress(`${done} entries of the history are chained`);
    });
    if (rows === 0) continue;
    await appendEntry(database, id, head, {
      subject: "environment",
      subjectId: name,
      version: null,
      at: new Date(),
      actor: halyard,
      actions: ["environment.history_chained"],
      before: null,
      after: { entries: rows },
    });
  }
};

export const chain = async (
  schema: SchemaModule,
  traits: DatabaseTraits,
  run: MigrationRun,
): Promise<void> => {
  await traits
    .withIdentity(schema.createTable("history_checkpoints"), "id")
    .addColumn("environment_id", "bigint", (column) =>
      column.notNull().references("environments.id").onDelete("cascade"),
    )
    .addColumn("entry_id", "bigint", (column) => column.notNull())
    .addColumn("kind", "text", (column) => column.notNull())
    .addColumn("statement", "text", (column) => column.notNull())
    .addColumn("key_id", "text", (column) => column.notNull())
    .addColumn("hmac", "text", (column) => column.notNull())
    .execute();
  await schema
    .createIndex("history_checkpoints_by_entry")
    .on("history_checkpoints")
    .columns(["environment_id", "entry_id", "id"])
    .execute();
  await schema.alterTable("environments").addColumn("chain", "text").execute();
  for (const column of ["digest", "chain"] as const) {
    await schema.alterTable("history").addColumn(column, "text").execute();
  }
  await chainWhatIsThere(run);
  await schema
    .createIndex("history_unchained")
    .on("history")
    .columns(["environment_id", "id"])
    .where(sql.ref("chain"), "is", null)
    .execute();
};
