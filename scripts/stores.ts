// Which tests run on PostgreSQL too: all that start a server or open a store, but for those that are about SQLite itself.
import { readFileSync } from "node:fs";
import { basename } from "node:path";

const aboutSqlite: Readonly<Record<string, string>> = {
  "store.test.ts": "the contract on SQLite; store-postgres.test.ts is its twin",
  "sqlite-trouble.test.ts": "locks and rollbacks of SQLite",
  "store-postgres.test.ts": "chooses PostgreSQL by itself",
};

const opensStore = /\b(startTestServer|serveHalyard|composeStore)\b/;

/** Chooses PostgreSQL by itself, whatever store the run is about. */
export const needsPostgres = (file: string): boolean => /postgres/.test(basename(file));

export const runsOnBoth = (file: string): boolean =>
  file.startsWith("packages/server/test/") &&
  !needsPostgres(file) &&
  aboutSqlite[basename(file)] === undefined &&
  opensStore.test(readFileSync(file, "utf8"));
