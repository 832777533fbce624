// What a migration is.
import type { Dialect } from "./dialect.ts";
import type { Database } from "./tables.ts";

/** Runs inside the transaction that also writes the new version. A released migration is never edited: the next number is added. */
export type Migration = (database: Database, dialect: Dialect) => Promise<void>;
