// What differs between the databases, by name. Queries ask for a capability, never for a product.
import type { CreateTableBuilder, RawBuilder } from "kysely";

export interface DatabaseTraits {
  readonly bytes: RawBuilder<unknown>;
  /** Adds a primary key that the database counts up. */
  readonly withIdentity: <T extends string, C extends string>(
    table: CreateTableBuilder<T, never>,
    column: C,
  ) => CreateTableBuilder<T, C>;
}
