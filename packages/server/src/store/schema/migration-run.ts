// What a migration that changes rows is given beside the schema.
import type { Database } from "./tables.ts";

export interface MigrationRun {
  readonly database: Database;
  /** Says how far it has come, for people who wait. */
  readonly onProgress: (done: string) => void;
}
