// When an API key was last used.
import type { SchemaModule } from "kysely";

export const keyUse = async (schema: SchemaModule): Promise<void> => {
  await schema.alterTable("api_keys").addColumn("last_used_at", "bigint").execute();
};
