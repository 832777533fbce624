// The result of an evaluation with its reason.

export interface Details {
  readonly value: boolean;
  /** Absent when the value is the fallback. */
  readonly variant?: "on" | "off";
  readonly reason:
    | "STATIC"
    | "DISABLED"
    | "SPLIT"
    | "TARGETING_MATCH"
    | "CACHED"
    | "UNKNOWN"
    | "ERROR";
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

export const failedDetails = (
  value: boolean,
  errorCode: NonNullable<Details["errorCode"]>,
  errorMessage: string,
): Details => ({ value, reason: "ERROR", errorCode, errorMessage });

export const notReady = (fallback: boolean, why?: { readonly message: string }): Details =>
  failedDetails(
    fallback,
    "PROVIDER_NOT_READY",
    why === undefined ? "No flags are loaded yet." : `No flags are loaded yet: ${why.message}`,
  );

export const notFound = (fallback: boolean, key: string): Details =>
  failedDetails(fallback, "FLAG_NOT_FOUND", `There is no flag ${JSON.stringify(key)}.`);
