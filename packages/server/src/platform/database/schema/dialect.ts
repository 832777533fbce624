// What differs between the databases, by name. Queries ask for a capability, never for a product.
import type { RawBuilder, SelectQueryBuilder, SqlBool } from "kysely";
import type { Database } from "./tables.ts";

export type SameSelect = <DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
) => SelectQueryBuilder<DB, TB, O>;

/** Of rows that a statement is given. */
export interface GivenColumns {
  /** Whole numbers. */
  readonly numbers: readonly string[];
  readonly texts: readonly string[];
}

/** A statement for rows that it is given, see `rowsToWrite`. */
export interface GivenRows<Column extends string = string> {
  /** A value of the row. */
  readonly column: (name: Column) => RawBuilder<unknown>;
  /** Where it comes from: a part of the statement, which may be empty. */
  readonly from: RawBuilder<unknown>;
  /** The condition of an update: the row of the table with the same number in this column, its primary key. */
  readonly isRowOf: (table: string, column: Column) => RawBuilder<SqlBool>;
}

/** Puts a placeholder for a value into a query that is being built. */
export type Value<Values> = <Name extends keyof Values>(name: Name) => Values[Name];

/** What a statement is filled with: the columns of a row, or all rows together. */
export type RowValues = Readonly<{ rows?: unknown; [column: string]: unknown }>;

export interface Dialect {
  readonly bytes: RawBuilder<unknown>;
  /** Text that is compared and sorted by its bytes, whatever the database's locale. */
  readonly text: RawBuilder<unknown>;
  /** The type of a primary key that the database counts up. */
  readonly identity: RawBuilder<unknown>;
  /** Between the columns and the values of an insert that sets such a key itself. */
  readonly givenIdentity: RawBuilder<unknown>;
  /** Such a key continues after the highest number in the table. */
  readonly countOn: (database: Database, table: string, column: string) => Promise<void>;

  /**
   * Locks the rows against changes until the transaction ends, and reads their latest version. Locks are taken
   * in this order to avoid deadlocks: environments by name, webhooks by id, ordering queues by their unique index.
   */
  readonly locked: SameSelect;
  /** Skips rows that others have locked or refer to; locks the rest, also for deletion. */
  readonly lockedIfFree: SameSelect;
  /** Locks the rows against deletion until the transaction ends. */
  readonly kept: SameSelect;
  /** Whether a statement that only takes locks is needed before one that changes many rows. */
  readonly locksRows: boolean;
  /** A list as one parameter, so that a prepared statement is the same for any number of ids. Others use `idList`. */
  readonly list: (ids: readonly (number | string)[]) => unknown;
  readonly isIn: (column: string, list: unknown) => RawBuilder<SqlBool>;
  /** How a statement reads the rows that it is given. */
  readonly given: (columns: GivenColumns, value: Value<RowValues>) => GivenRows;
  /** What such a statement is filled with, each time that it runs: all rows together, or one after the other. */
  readonly rowValues: (rows: readonly object[]) => readonly RowValues[];
  /** A lock on everything: others wait at this call until the transaction ends. */
  readonly alone: (database: Database) => Promise<void>;
  /** Notifies every instance, when the transaction commits, that there may be something new. */
  readonly notify: (database: Database) => Promise<void>;
  /** The same for what this instance has in memory once it is committed. */
  readonly notifyOthers: (database: Database) => Promise<void>;
  /** The database's own time, in milliseconds: the same for every instance, whatever its clock says. */
  readonly now: RawBuilder<number>;
}
