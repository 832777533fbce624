// The tables of what was evaluated.

export interface UsageTables {
  /** Evaluations of a flag within an hour, of all instances together. */
  usage: {
    environment_id: number;
    /** Empty for bulk evaluations, which are counted as on. */
    flag_key: string;
    hour: number;
    on_count: number;
    off_count: number;
    last_at: number;
  };
  /** The evaluations of an hour by variant and by rule. */
  usage_counts: {
    environment_id: number;
    flag_key: string;
    hour: number;
    /** `variant` or `rule`. */
    kind: string;
    name: string;
    count: number;
  };
  /** Failed evaluations of one program within the retention. */
  evaluation_errors: {
    environment_id: number;
    /** The API key that the program uses. */
    key_id: string;
    /** `FLAG_NOT_FOUND` or `TYPE_MISMATCH`. */
    code: string;
    flag_key: string;
    program: string;
    count: number;
    last_at: number;
  };
}
