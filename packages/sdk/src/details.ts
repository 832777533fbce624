// The result of an evaluation with its reason.
import type { FlagValue, Reason } from "@halyard/core/evaluate";

export interface Details<Value extends FlagValue = boolean, Variant extends string = string> {
  readonly value: Value;
  /** Absent when the value is the fallback, or an override that is not one of the flag's variants. */
  readonly variant?: Variant;
  readonly reason: Reason | "CACHED" | "STALE" | "UNKNOWN" | "ERROR";
  /** The id of the rule that decided. */
  readonly rule?: string;
  /** The value is an override in this client. */
  readonly overridden?: true;
  readonly errorCode?:
    | "PROVIDER_NOT_READY"
    | "FLAG_NOT_FOUND"
    | "TARGETING_KEY_MISSING"
    | "TYPE_MISMATCH"
    | "PARSE_ERROR"
    | "INVALID_CONTEXT"
    | "GENERAL";
  readonly errorMessage?: string;
}

/** The version of the flag that was evaluated, by the names of OpenFeature's appendix for observability. */
export interface FlagMetadata {
  /** Counts the changes of the flag, as in its history. */
  readonly version: string;
  /** The name of the environment. */
  readonly flagSetId: string;
}

/** Objects that the clients return are frozen. */
export type ReadOnly<Value> = Value extends object
  ? { readonly [Name in keyof Value]: ReadOnly<Value[Name]> }
  : Value;

/** The type of a literal fallback: `string` for "small". */
export type Widened<Value extends FlagValue> = Value extends boolean
  ? boolean
  : Value extends string
    ? string
    : Value extends number
      ? number
      : ReadOnly<Value>;

/** Whether a value has the type of the fallback. */
export const isLike = <Value extends FlagValue>(
  value: FlagValue,
  fallback: Value,
): value is Value => typeof value === typeof fallback;

export const failedDetails = <Value extends FlagValue>(
  value: Value,
  errorCode: NonNullable<Details["errorCode"]>,
  errorMessage: string,
): Details<Value> => ({ value, reason: "ERROR", errorCode, errorMessage });

export const mismatch = <Value extends FlagValue>(
  fallback: Value,
  key: string,
  found: FlagValue,
): Details<Value> =>
  failedDetails(
    fallback,
    "TYPE_MISMATCH",
    `The flag ${JSON.stringify(key)} is of type ${typeof found}, not ${typeof fallback}.`,
  );

export const notReady = <Value extends FlagValue>(
  fallback: Value,
  why?: { readonly message: string },
): Details<Value> =>
  failedDetails(
    fallback,
    "PROVIDER_NOT_READY",
    `No flags are loaded yet${why ? `: ${why.message}` : "."}`,
  );

export const notFound = <Value extends FlagValue>(fallback: Value, key: string): Details<Value> =>
  failedDetails(fallback, "FLAG_NOT_FOUND", `There is no flag ${JSON.stringify(key)}.`);

/** The error that a client with the option `strict` throws. */
export const notListed = (key: string): Error =>
  new Error(`The flag ${JSON.stringify(key)} is neither in overrides nor in bootstrap (strict).`);
