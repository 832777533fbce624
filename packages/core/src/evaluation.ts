// The result of an evaluation: a value with its variant and reason, or an error.

/** Accepts interfaces too, which have no index signature. Lists are excluded because they have a `concat`. */
export type ObjectOfMembers = object & { readonly concat?: never };

export type FlagValue =
  | boolean
  | string
  | number
  | Readonly<Record<string, unknown>>
  | ObjectOfMembers;

export type Reason =
  | "STATIC"
  | "DISABLED"
  | "SPLIT"
  | "TARGETING_MATCH"
  | "DEFAULT"
  | "PREREQUISITE_FAILED";

export interface EvaluatedFlag {
  readonly value: FlagValue;
  readonly variant: string;
  readonly reason: Reason;
  /** The id of the rule that decided. */
  readonly rule?: string;
}

export interface EvaluationError {
  readonly errorCode: "TARGETING_KEY_MISSING" | "GENERAL";
  readonly errorDetails: string;
}

export type Evaluation = EvaluatedFlag | EvaluationError;
