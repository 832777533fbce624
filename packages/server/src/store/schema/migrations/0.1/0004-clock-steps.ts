// Remembers when the clock went back, so that of several instances that notice it one acts on it.
import type { SchemaModule } from "kysely";
import type { DatabaseTraits } from "../../dialect.ts";

export const clockSteps = async (schema: SchemaModule, traits: DatabaseTraits): Promise<void> => {
  await schema
    .createTable("clock_steps")
    .addColumn("instance", traits.text, (column) => column.notNull())
    .addColumn("noticed_at", "bigint", (column) => column.notNull())
    .addColumn("milliseconds", "bigint", (column) => column.notNull())
    .execute();
};
