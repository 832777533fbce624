// A prepared flag and a context give a value with its variant and reason, or the error that says what is missing.
import { type BucketPrefix, hashFrom } from "./bucket.ts";
import { type EvaluationContext, isTargetingKey } from "./context.ts";

export interface EvaluatedFlag {
  readonly value: boolean;
  readonly variant: "on" | "off";
  readonly reason: "STATIC" | "DISABLED" | "SPLIT";
}

export interface EvaluationError {
  readonly errorCode: "TARGETING_KEY_MISSING" | "GENERAL";
  readonly errorDetails: string;
}

export type Evaluation = EvaluatedFlag | EvaluationError;

/** A flag compiled for many evaluations. Every flag type compiles to this form. */
export interface PreparedFlag {
  /** The result when it does not depend on the context. */
  readonly fixed: Evaluation | undefined;
  readonly prefix: BucketPrefix;
  /** Hashes below it are in. */
  readonly limit: number;
}

// An evaluation only ever returns one of these, so it allocates nothing.
const result = (value: boolean, reason: EvaluatedFlag["reason"]): EvaluatedFlag =>
  Object.freeze({ value, variant: value ? "on" : "off", reason });
const disabled = result(false, "DISABLED");
export const staticOn = result(true, "STATIC");
export const staticOff = result(false, "STATIC");
const splitOn = result(true, "SPLIT");
const splitOff = result(false, "SPLIT");
const targetingKeyMissing: EvaluationError = Object.freeze({
  errorCode: "TARGETING_KEY_MISSING",
  errorDetails:
    "The flag reaches a percentage of the targeting keys: put a targetingKey into the context, as a text that is not empty.",
});
const newerVersionNeeded: EvaluationError = Object.freeze({
  errorCode: "GENERAL",
  errorDetails:
    "The flag uses something that this version does not know: it needs a newer SDK or server.",
});

const noPrefix: BucketPrefix = Object.freeze({ state: 0, held: 0, heldBits: 0, length: 0 });

/** A flag with the same result for everyone. */
export const fixedFlag = (fixed: Evaluation): PreparedFlag => ({
  fixed,
  prefix: noPrefix,
  limit: 0,
});

/** A flag that is on for the hashes below the limit. */
export const splitFlag = (prefix: BucketPrefix, limit: number): PreparedFlag => ({
  fixed: undefined,
  prefix,
  limit,
});

export const offFlag = fixedFlag(disabled);

/** Of a type or level that this version does not know: never a guessed value. */
export const unknownFlag = fixedFlag(newerVersionNeeded);

export const evaluate = (flag: PreparedFlag, context: EvaluationContext): Evaluation => {
  if (flag.fixed !== undefined) return flag.fixed;
  const { targetingKey } = context;
  if (!isTargetingKey(targetingKey)) return targetingKeyMissing;
  return hashFrom(flag.prefix, targetingKey) < flag.limit ? splitOn : splitOff;
};
