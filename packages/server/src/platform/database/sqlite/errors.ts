// What SQLite's errors mean here: not now, damaged, or a mistake of the operator.
import { StartupProblem, StoreUnavailable } from "../../errors.ts";

/** SQLite's primary result codes for "not now": busy, locked, read-only, I/O error, full, cannot open. */
const temporary = new Set([5, 6, 8, 10, 13, 14]);
const busy = 5;
/** A damaged database, or not a database at all. */
const damaged = new Set([11, 26]);

const resultCode = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number"
    ? error.errcode & 0xff
    : undefined;

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Runs the callback; an error that can pass by itself becomes `StoreUnavailable`. */
export const guarded = <T>(callback: () => T): T => {
  try {
    return callback();
  } catch (error) {
    const code = resultCode(error);
    if (code === undefined || !temporary.has(code)) throw error;
    throw new StoreUnavailable(
      `The embedded database cannot be used right now: ${messageOf(error)}.`,
      { cause: error },
    );
  }
};

/** Whether another process holds the write lock. */
export const isBusy = (error: unknown): boolean =>
  error instanceof StoreUnavailable && resultCode(error.cause) === busy;

/** Why the database could not be opened, for the operator; undefined for what the operator cannot fix. */
export const explainOpenError = (
  error: unknown,
  folder: string,
  path: string,
): Error | undefined => {
  if (error instanceof StartupProblem) return error;
  const code = resultCode(error) ?? resultCode((error as { cause?: unknown }).cause);
  if (code !== undefined && damaged.has(code)) {
    return new StartupProblem(
      `The database ${path} is damaged or is not a Halyard database (${messageOf(error)}): restore a backup, or move the file away to start with an empty one.`,
    );
  }
  if (code === busy) {
    return new StoreUnavailable(
      `The database ${path} is locked by another program: try again when it is done.`,
      { cause: error },
    );
  }
  const isFileProblem = error instanceof Error && "syscall" in error;
  if (isFileProblem || (code !== undefined && temporary.has(code))) {
    return new StartupProblem(
      `The database ${path} cannot be opened for writing (${messageOf(error)}): check that the folder ${folder} belongs to the user that runs Halyard and that the disk is not full.`,
    );
  }
  return undefined;
};
