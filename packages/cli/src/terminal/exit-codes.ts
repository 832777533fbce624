// Exit codes, as listed by `halyard --help`.
import type { ManagementErrorCode } from "@halyard/sdk/management";

export const exitCodes = {
  done: 0,
  failed: 1,
  /** An invalid command, or a value that the server rejects. */
  usage: 2,
  notFound: 3,
  /** The key is missing, invalid or lacks permission. */
  refused: 4,
  /** The object already exists, or was changed meanwhile. */
  conflict: 5,
  /** The server or the database is unavailable; retrying later may work. */
  unavailable: 6,
  /** The compared sides differ. */
  different: 7,
  /** With --wait: the change was applied, but some clients don't have it yet. */
  lagging: 8,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const byError: Readonly<Partial<Record<ManagementErrorCode, ExitCode>>> = {
  VALIDATION_FAILED: exitCodes.usage,
  UNAUTHORIZED: exitCodes.refused,
  FORBIDDEN: exitCodes.refused,
  SIGN_IN_AGAIN: exitCodes.refused,
  NOT_FOUND: exitCodes.notFound,
  CONFLICT: exitCodes.conflict,
  TOO_MANY_FLIPS: exitCodes.conflict,
  PRECONDITION_FAILED: exitCodes.conflict,
  RATE_LIMITED: exitCodes.unavailable,
  UNAVAILABLE: exitCodes.unavailable,
  UNREACHABLE: exitCodes.unavailable,
};

export const exitCodeOf = (code: ManagementErrorCode): ExitCode =>
  byError[code] ?? exitCodes.failed;

/** The error code in JSON, if the error did not come from a server. */
export const codeOf = (exitCode: ExitCode): string =>
  ({
    [exitCodes.done]: "DONE",
    [exitCodes.failed]: "FAILED",
    [exitCodes.usage]: "USAGE",
    [exitCodes.notFound]: "NOT_FOUND",
    [exitCodes.refused]: "REFUSED",
    [exitCodes.conflict]: "CONFLICT",
    [exitCodes.unavailable]: "UNAVAILABLE",
    [exitCodes.different]: "DIFFERENT",
    [exitCodes.lagging]: "LAGGING",
  })[exitCode];
