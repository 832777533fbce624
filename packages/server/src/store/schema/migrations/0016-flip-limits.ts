// The limits on flips of environments and keys, in thousandths of a percent.
import type { SchemaModule } from "kysely";

export const flipLimits = async (schema: SchemaModule): Promise<void> => {
  await schema.alterTable("environments").addColumn("max_flips", "integer").execute();
  await schema.alterTable("api_keys").addColumn("max_flips", "integer").execute();
};
