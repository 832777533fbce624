// How often a flag was evaluated, by the value that it had, its variant and the rule that decided.
import type { ResultCounts } from "@halyard/core/result-counts";
import type { Actor } from "./principal.ts";

export interface UsageHour extends ResultCounts {
  readonly hour: Date;
  readonly on: number;
  readonly off: number;
  readonly lastAt: Date;
}

/** The place of a flag's key for bulk evaluations: one count for the environment, as they ask for every flag. */
export const allFlags = "";

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
