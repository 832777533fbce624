// Makes sure that nobody uses a database of the embedded store, and keeps it so while it is replaced.
import { existsSync, readFileSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

export type Hold =
  | { readonly kind: "busy" }
  | { readonly kind: "alone"; readonly release: () => void };

const busy = 5;

export const takeExclusiveLock = (path: string): Hold => {
  if (!existsSync(path)) return { kind: "alone", release: () => undefined };
  const database = new DatabaseSync(path, { timeout: 500 });
  try {
    // Only the last user can take the log away. What is in it goes into the file, as at the end of a server.
    database.exec("pragma journal_mode = delete");
    database.exec("begin exclusive");
    return { kind: "alone", release: () => database.close() };
  } catch (error) {
    database.close();
    const isBusy =
      error instanceof Error &&
      "errcode" in error &&
      typeof error.errcode === "number" &&
      (error.errcode & 0xff) === busy;
    // A damaged database cannot be locked through SQLite: the system is asked whether somebody else has locked it.
    return isBusy || isLocked(path)
      ? { kind: "busy" }
      : { kind: "alone", release: () => undefined };
  }
};

/** Linux alone shows the locks of files. */
const isLocked = (path: string): boolean => {
  const locks = "/proc/locks";
  if (!existsSync(locks)) return false;
  const { ino } = statSync(path);
  return readFileSync(locks, "utf8")
    .split("\n")
    .some((line) => line.includes(`:${ino} `));
};
