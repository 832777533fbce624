// Copies a consistent snapshot of the embedded database while servers write to it, and checks the copy.
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { StartupProblem } from "../../errors.ts";
import { databaseFile, distrustSchema } from "../sqlite/data-folder.ts";

/** Pages per step; other work of the process runs between steps. */
const pagesAtOnce = 1_000;
/** Milliseconds that SQLite waits while another process recovers the log. */
const lockTimeout = 5_000;

/** What a database contains, in numbers. */
export interface Contents {
  readonly schemaVersion: number;
  readonly environments: {
    readonly name: string;
    readonly flags: number;
    readonly revision: number;
    readonly sequence: number;
  }[];
  readonly rows: Readonly<Record<string, number>>;
}

/** For a file that nothing changes: takes no lock and creates no file beside it. */
export const openImmutable = (path: string): DatabaseSync => {
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return distrustSchema(new DatabaseSync(url, { readOnly: true }));
};

const contentsOf = (database: DatabaseSync): Contents => {
  const tables = database
    .prepare(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by name",
    )
    .all()
    .map(({ name }) => String(name));
  const count = (table: string) =>
    Number(
      database.prepare(`select count(*) as count from "${table.replaceAll('"', '""')}"`).get()
        ?.count,
    );
  return {
    schemaVersion: Number(database.prepare("select version from schema_version").get()?.version),
    environments: database
      .prepare("select name, flag_count, revision, sequence from environments order by name")
      .all()
      .map(({ name, flag_count, revision, sequence }) => ({
        name: String(name),
        flags: Number(flag_count),
        revision: Number(revision),
        sequence: Number(sequence),
      })),
    rows: Object.fromEntries(tables.map((table) => [table, count(table)])),
  };
};

/** Bytes of the database, with what is still in its log. */
export const sizeOfDatabase = (folder: string): number => {
  const database = new DatabaseSync(join(folder, databaseFile), { timeout: lockTimeout });
  try {
    const number = (pragma: "page_count" | "page_size") =>
      Number(database.prepare(`pragma ${pragma}`).get()?.[pragma]);
    return number("page_count") * number("page_size");
  } finally {
    database.close();
  }
};

/** The file at `path` must not exist yet; only its owner can read it. */
export const copyDatabaseFile = async (
  folder: string,
  path: string,
  progress: (done: number, total: number) => void,
): Promise<Contents> => {
  closeSync(openSync(path, "wx", 0o600));
  const source = distrustSchema(
    new DatabaseSync(join(folder, databaseFile), { timeout: lockTimeout }),
  );
  let original: Contents;
  try {
    // With an open read transaction every page is of that moment. Without it the copy would restart at each commit of
    // another process, and might never finish under constant writes.
    source.exec("begin");
    original = contentsOf(source);
    await backup(source, path, {
      rate: pagesAtOnce,
      progress: ({ totalPages, remainingPages }) =>
        progress(totalPages - remainingPages, totalPages),
    });
    source.exec("rollback");
  } finally {
    source.close();
  }
  const copy = new DatabaseSync(path);
  // A single file without a log beside it; a server switches it back to WAL.
  copy.exec("pragma journal_mode = delete");
  copy.close();
  const contents = checkDatabaseFile(path);
  if (typeof contents === "string" || !isDeepStrictEqual(contents, original)) {
    throw new StartupProblem(
      `The copy of ${join(folder, databaseFile)} is damaged and was removed: ${typeof contents === "string" ? `${contents}, most likely in the original too; run \`halyard doctor\` to check it` : "it does not match the original"}.`,
    );
  }
  return contents;
};

/** The contents, or a text that says what is wrong. */
export const checkDatabaseFile = (path: string): Contents | string => {
  const database = openImmutable(path);
  try {
    const [found] = database.prepare("pragma integrity_check(1)").all();
    if (found?.integrity_check !== "ok") {
      return `the database is damaged (${String(found?.integrity_check)})`;
    }
    const [orphan] = database.prepare("pragma foreign_key_check").all();
    if (orphan)
      return `a row of ${String(orphan.table)} refers to a row of ${String(orphan.parent)} that is missing`;
    return contentsOf(database);
  } catch (error) {
    return `the database is damaged (${error instanceof Error ? error.message : String(error)})`;
  } finally {
    database.close();
  }
};
