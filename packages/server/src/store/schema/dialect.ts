// What differs between the databases, by name. Queries ask for a capability, never for a product.
import type { CreateTableBuilder, Kysely, RawBuilder, SelectQueryBuilder } from "kysely";
import type { Tables } from "./tables.ts";

export type SameSelect = <DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
) => SelectQueryBuilder<DB, TB, O>;

export interface DatabaseTraits {
  readonly bytes: RawBuilder<unknown>;
  /** Text that is compared and sorted by its bytes, whatever language the database speaks. */
  readonly text: RawBuilder<unknown>;
  /** Adds a primary key that the database counts up. */
  readonly withIdentity: <T extends string, C extends string>(
    table: CreateTableBuilder<T, never>,
    column: C,
  ) => CreateTableBuilder<T, C>;
  /** Between the columns and the values of an insert that brings the numbers of such a key along. */
  readonly givenIdentity: RawBuilder<unknown>;
  /** Such a key is counted on from the highest number that is there. */
  readonly countOn: (database: Kysely<Tables>, table: string, column: string) => Promise<void>;

  /**
   * The rows are as nobody else has left them, and nobody else changes them until the transaction ends. Locks are taken
   * in this order, so that nobody waits in a circle: environment, webhooks by id, lanes by their unique index.
   */
  readonly locked: SameSelect;
  /** Without the rows that somebody else holds or refers to just now; the others are locked, for deletion too. */
  readonly lockedIfFree: SameSelect;
  /** Nobody deletes the rows until the transaction ends. */
  readonly kept: SameSelect;
  /** Whether a statement that only takes locks is needed before one that changes many rows. */
  readonly locksRows: boolean;
  /** Until the transaction ends nobody else comes past this call. */
  readonly alone: (database: Kysely<Tables>) => Promise<void>;
  /** Tells every instance, when the transaction commits, that there may be something new. */
  readonly notify: (database: Kysely<Tables>) => Promise<void>;
}
