// How a command ends, for scripts; `halyard --help` lists it.
import type { ManagementErrorCode } from "@halyard/sdk";

export const exitCodes = {
  done: 0,
  failed: 1,
  /** Not a valid command, or a value in it that the server does not take. */
  usage: 2,
  notFound: 3,
  /** The key is missing, wrong or may not do this. */
  refused: 4,
  /** Somebody else was there first: it exists already, or was changed meanwhile. */
  conflict: 5,
  /** No server answers, or it cannot just now: the same may work later. */
  unavailable: 6,
  /** What was compared is not the same. */
  different: 7,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const byError: Readonly<Partial<Record<ManagementErrorCode, ExitCode>>> = {
  VALIDATION_FAILED: exitCodes.usage,
  UNAUTHORIZED: exitCodes.refused,
  FORBIDDEN: exitCodes.refused,
  NOT_FOUND: exitCodes.notFound,
  CONFLICT: exitCodes.conflict,
  PRECONDITION_FAILED: exitCodes.conflict,
  RATE_LIMITED: exitCodes.unavailable,
  UNAVAILABLE: exitCodes.unavailable,
  UNREACHABLE: exitCodes.unavailable,
};

export const exitCodeOf = (code: ManagementErrorCode): ExitCode =>
  byError[code] ?? exitCodes.failed;

/** The word for it, where no server gave one. */
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
  })[exitCode];
