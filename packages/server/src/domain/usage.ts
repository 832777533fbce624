// How often a flag was evaluated, by the value that it had.

export interface UsageHour {
  readonly hour: Date;
  readonly on: number;
  readonly off: number;
}

/** Counts since they were last stored. */
export interface FlagUsage {
  readonly flagKey: string;
  readonly on: number;
  readonly off: number;
  readonly lastAt: Date;
}

/** Counts within a period. */
export interface CountedFlag {
  readonly flagKey: string;
  readonly on: number;
  readonly off: number;
  /** When it was last evaluated, however long ago; null when it never was. */
  readonly lastAt: Date | null;
}

/** Values returned by this process, for the metrics. */
export interface EvaluationTotals {
  on: number;
  off: number;
  error: number;
}
