// What differs between the databases, by name. Queries ask for a capability, never for a product.
import type { CreateTableBuilder, RawBuilder } from "kysely";

export interface DatabaseTraits {
  readonly bytes: RawBuilder<unknown>;
  /** Adds the column `id`, counted up by the database. */
  readonly withIdentity: <T extends string>(
    table: CreateTableBuilder<T, never>,
  ) => CreateTableBuilder<T, "id">;
}
