// What PostgreSQL's errors mean here: retry, unavailable, or a mistake of the operator.
import { DatabaseError } from "pg";
import { StartupProblem, StoreUnavailable } from "../../errors.ts";

/** Conflicts with another transaction: a deadlock, a serialisation failure, or a row that it inserted or deleted meanwhile. */
const conflicts = new Set(["40001", "40P01", "23505", "23503"]);
/** A statement prepared before a newer version changed the tables. */
const stalePlan = "0A000";
/** Shut down, cancelled, timed out, locked too long, full, read-only after a failover, access revoked. */
const temporary =
  /^(08...|53...|58...|57P0\d|57014|55P03|25006|25P03|25P04|40001|40P01|28...|3D000)$/;

export const codeOf = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? error.code : undefined;

/** An answer of PostgreSQL itself: a pooler before it names no routine, and does not know what becomes of what it has passed on. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof DatabaseError && error.routine !== undefined;

export const isConflict = (error: unknown): boolean => conflicts.has(codeOf(error) ?? "");

export const isStalePlan = (error: unknown): boolean => codeOf(error) === stalePlan;

/** The connection is unusable: refused, cut, not answering, closed by the server, or to a server that is read-only since a failover. */
export const isConnectionLost = (error: unknown): boolean => {
  const code = codeOf(error);
  if (code !== undefined) return /^(08...|57P0\d|25006|25P03|25P04)$/.test(code);
  // Errors of pg itself have no PostgreSQL code; values that cannot be sent are a bug of ours.
  return error instanceof Error && !(error instanceof TypeError || error instanceof RangeError);
};

export const messageOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === "") return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
};

export const toUnavailable = (cause: unknown): StoreUnavailable =>
  new StoreUnavailable(`PostgreSQL cannot be used right now: ${messageOf(cause)}.`, { cause });

/** Turns an outage into `StoreUnavailable`; returns any other error as it is. */
export const toStoreError = (error: unknown): unknown => {
  if (error instanceof StoreUnavailable || error instanceof StartupProblem) return error;
  const isTemporary = temporary.test(codeOf(error) ?? "") || isConnectionLost(error);
  return isTemporary ? toUnavailable(error) : error;
};
