// How often a flag was evaluated, by the value that it had, its variant and the rule that decided; and failed evaluations.
import type { ResultCounts } from "@halyard/core/result-counts";
import type { Actor } from "../../platform/auth/principal.ts";

export interface UsageHour extends ResultCounts {
  readonly hour: Date;
  readonly on: number;
  readonly off: number;
  readonly lastAt: Date;
}

/** The place of a flag's key for bulk evaluations: one count for the environment, as they ask for every flag. */
export const allFlags = "";

/** The column `kind` of stored counts, by their member of `ResultCounts`. */
export const countKinds = { variants: "variant", rules: "rule" } as const;

/** Counts since they were last stored. */
export interface FlagUsage extends ResultCounts {
  readonly flagKey: string;
  readonly on: number;
  readonly off: number;
  readonly lastAt: Date;
}

/** Counts within a period. */
export interface CountedFlag extends ResultCounts {
  readonly flagKey: string;
  readonly on: number;
  readonly off: number;
  /** When it was last evaluated, however long ago; null when it never was. */
  readonly lastAt: Date | null;
  /** Null when that is longer ago than history is kept. */
  readonly createdAt: Date | null;
  /** Null when history has none: the last entry of a flag outlives all others. */
  readonly lastChange: LastChange | null;
}

export interface LastChange {
  readonly at: Date;
  readonly actor: Actor;
}

/** No flag has the key, or the program expects a value of another type than the flag's. */
export const evaluationErrorCodes = ["FLAG_NOT_FOUND", "TYPE_MISMATCH"] as const;
export type EvaluationErrorCode = (typeof evaluationErrorCodes)[number];

/** Failed evaluations of one key by one program. */
export interface ProgramErrors {
  readonly code: EvaluationErrorCode;
  readonly flagKey: string;
  readonly program: string;
  readonly count: number;
  readonly lastAt: Date;
}

/** Failed evaluations since they were last stored, with the API key that reported them. */
export interface NewProgramErrors extends ProgramErrors {
  readonly keyId: string;
}

export interface StoredProgramErrors extends ProgramErrors {
  /** Of the flag that had the key; null if there was none, or history no longer has it. */
  readonly deletion: LastChange | null;
}

/**
 * Rows of one API key. Anyone can report any key with a client key, so each API key has its own limit: the rows seen longest ago
 * are deleted first.
 */
export const maxErrorsOfKey = 500;
/** Rows are deleted when the last failed evaluation is older. */
export const errorRetention = 30 * 24 * 60 * 60 * 1_000;

const staleAfter = 30 * 24 * 60 * 60 * 1_000;

/** Neither evaluated, nor asked for with all others, nor changed in 30 days. */
export const isStale = (times: readonly (Date | null)[], now: Date): boolean =>
  times.every((time) => time === null || now.getTime() - time.getTime() > staleAfter);

/** What one evaluation is counted as. */
export type Outcome = "on" | "off" | "error";

/** Values returned by this process, for the metrics. */
export interface EvaluationTotals {
  on: number;
  off: number;
  error: number;
  /** Requests for all flags together; their values are counted above too. */
  bulk: number;
}
