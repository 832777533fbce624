// The evaluations that fail, as the management API returns them.
import type { LastChange } from "./resources.ts";

/** The failed evaluations of one key, by all programs. */
export interface EvaluationError {
  readonly key: string;
  /** No flag has the key, or programs expect another type than the flag's. */
  readonly errorCode: "FLAG_NOT_FOUND" | "TYPE_MISMATCH";
  readonly count: number;
  readonly lastEvaluatedAt: string;
  /** Who deleted the flag that had the key, and when; null if history has no such flag. */
  readonly deletion: LastChange | null;
  /** Sorted by name: that of the program, or of its API key if it reports none. */
  readonly programs: readonly {
    readonly name: string;
    readonly count: number;
    readonly lastEvaluatedAt: string;
  }[];
}
