// Room for members of flags that have no column, and for flags that older versions cannot evaluate.
import type { SchemaModule } from "kysely";

export const definitions = async (schema: SchemaModule): Promise<void> => {
  await schema.alterTable("flags").addColumn("definition", "text").execute();
  await schema.alterTable("flags").addColumn("level", "integer").execute();
  await schema.alterTable("history").addColumn("level", "integer").execute();
};
