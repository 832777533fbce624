// An exclusive lock on an embedded database, held while its file is replaced.
import { existsSync, readFileSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

export type ExclusiveLock =
  | { readonly kind: "busy" }
  | { readonly kind: "locked"; readonly release: () => void };

const busy = 5;

export const takeExclusiveLock = (path: string): ExclusiveLock => {
  if (!existsSync(path)) return { kind: "locked", release: () => undefined };
  const database = new DatabaseSync(path, { timeout: 500 });
  try {
    // Only the last connection can remove the log. Its content is written to the file, as when a server stops.
    database.exec("pragma journal_mode = delete");
    database.exec("begin exclusive");
    return { kind: "locked", release: () => database.close() };
  } catch (error) {
    database.close();
    const isBusy =
      error instanceof Error &&
      "errcode" in error &&
      typeof error.errcode === "number" &&
      (error.errcode & 0xff) === busy;
    // SQLite cannot lock a damaged database: ask the system whether another process has locked the file.
    return isBusy || isLocked(path)
      ? { kind: "busy" }
      : { kind: "locked", release: () => undefined };
  }
};

/** Whether another process has the database open. */
export const isDatabaseInUse = (path: string): boolean => {
  const lock = takeExclusiveLock(path);
  if (lock.kind === "locked") lock.release();
  return lock.kind === "busy";
};

/** Only Linux lists the locks of files. */
const isLocked = (path: string): boolean => {
  const locks = "/proc/locks";
  if (!existsSync(locks)) return false;
  const { ino } = statSync(path);
  return readFileSync(locks, "utf8")
    .split("\n")
    .some((line) => line.includes(`:${ino} `));
};
