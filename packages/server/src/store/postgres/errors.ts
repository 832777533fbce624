// What PostgreSQL's errors mean here: try again, not now, or a mistake of the operator.
import { DatabaseError } from "pg";
import { StartupProblem, StoreUnavailable } from "../../errors.ts";

/** Another transaction was in the way: a deadlock, a serialisation failure, or a row that it made or took away meanwhile. */
const inTheWay = new Set(["40001", "40P01", "23505", "23503"]);
/** A statement prepared before a newer version changed the tables. */
const stalePlan = "0A000";
/** Shut down, cancelled, out of time, locked for too long, full, read-only after a failover, no longer let in. */
const passing =
  /^(08...|53...|58...|57P0\d|57014|55P03|25006|25P03|25P04|40001|40P01|28...|3D000)$/;

export const codeOf = (error: unknown): string | undefined =>
  error instanceof DatabaseError ? error.code : undefined;

export const isInTheWay = (error: unknown): boolean => inTheWay.has(codeOf(error) ?? "");

export const isStalePlan = (error: unknown): boolean => codeOf(error) === stalePlan;

/** The connection is gone or of no use any more: refused, cut, silent, ended by the server, or to one that only reads since a failover. */
export const isConnectionLost = (error: unknown): boolean => {
  const code = codeOf(error);
  if (code !== undefined) return /^(08...|57P0\d|25006|25P03|25P04)$/.test(code);
  // What pg itself says has no code of PostgreSQL; values that cannot be sent are our own mistake.
  return error instanceof Error && !(error instanceof TypeError || error instanceof RangeError);
};

export const messageOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === "") return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
};

/** Whatever the store throws: an outage as such, anything else as it is. */
export const toStoreError = (error: unknown): unknown => {
  if (error instanceof StoreUnavailable || error instanceof StartupProblem) return error;
  const isPassing = passing.test(codeOf(error) ?? "") || isConnectionLost(error);
  return isPassing
    ? new StoreUnavailable(`PostgreSQL cannot be used just now: ${messageOf(error)}.`, {
        cause: error,
      })
    : error;
};
