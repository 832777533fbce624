// Copies the embedded database as of one moment, beside servers that go on writing, and checks the copy.
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { StartupProblem } from "../../errors.ts";
import { databaseFile } from "../sqlite/data-folder.ts";

/** Pages that are copied before others have their turn. */
const pagesAtOnce = 1_000;
/** How long SQLite waits while another process recovers the log. */
const patience = 5_000;

/** What a database holds, in numbers. */
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

/** For a file that nobody changes: no lock is taken, and no file appears beside it. */
export const openUnchanging = (path: string): DatabaseSync => {
  const url = pathToFileURL(path);
  url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true });
};

const contentsOf = (database: DatabaseSync): Contents => {
  const tables = database
    .prepare(
      "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by name",
    )
    .all()
    .map(({ name }) => String(name));
  const count = (table: string) =>
    Number(database.prepare(`select count(*) as count from "${table}"`).get()?.count);
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

/** Bytes of the database with what is still in its log. */
export const sizeOfDatabase = (folder: string): number => {
  const database = new DatabaseSync(join(folder, databaseFile), { timeout: patience });
  try {
    const number = (pragma: "page_count" | "page_size") =>
      Number(database.prepare(`pragma ${pragma}`).get()?.[pragma]);
    return number("page_count") * number("page_size");
  } finally {
    database.close();
  }
};

/** The file at `path` must not exist yet; it is for its owner only. */
export const copyDatabaseFile = async (
  folder: string,
  path: string,
  progress: (done: number, total: number) => void,
): Promise<Contents> => {
  closeSync(openSync(path, "wx", 0o600));
  const source = new DatabaseSync(join(folder, databaseFile), { timeout: patience });
  let original: Contents;
  try {
    // With a reading transaction open, every page comes from that moment. Without it the copy would begin anew at each
    // commit of another process, and under steady writing not come to an end.
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
  // One file that stands for itself, without a log beside it; a server turns it back.
  copy.exec("pragma journal_mode = delete");
  copy.close();
  const contents = checkDatabaseFile(path);
  if (typeof contents === "string" || !isDeepStrictEqual(contents, original)) {
    throw new StartupProblem(
      `The copy of ${join(folder, databaseFile)} is not sound, so nothing of it was kept: ${typeof contents === "string" ? `${contents}, most likely as in the original; \`halyard doctor\` looks at that` : "it does not hold what the original held"}.`,
    );
  }
  return contents;
};

/** What it holds, or in words what is wrong with it. */
export const checkDatabaseFile = (path: string): Contents | string => {
  const database = openUnchanging(path);
  try {
    const [found] = database.prepare("pragma integrity_check(1)").all();
    if (found?.integrity_check !== "ok") {
      return `the database is damaged (${String(found?.integrity_check)})`;
    }
    const [orphan] = database.prepare("pragma foreign_key_check").all();
    if (orphan)
      return `a row of ${String(orphan.table)} refers to one of ${String(orphan.parent)} that is not there`;
    return contentsOf(database);
  } catch (error) {
    return `the database is damaged (${error instanceof Error ? error.message : String(error)})`;
  } finally {
    database.close();
  }
};
