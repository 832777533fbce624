// Evaluates a prepared flag for a context: the result is a value with its variant and reason, or an error.
import { type BucketPrefix, hashFrom, noPrefix } from "./bucket.ts";
import { type EvaluationContext, isTargetingKey } from "./context.ts";
import type {
  EvaluatedFlag,
  Evaluation,
  EvaluationError,
  FlagValue,
  Reason,
} from "./evaluation.ts";
import type { Turn } from "./targeting/turn.ts";

export type { EvaluatedFlag, Evaluation, EvaluationError, FlagValue, Reason };

export type Decide = (context: EvaluationContext, turn?: Turn) => Evaluation;

/** A flag compiled for many evaluations. Every flag type compiles to this form. */
export interface PreparedFlag {
  /** The result when it does not depend on the context. */
  readonly fixed: Evaluation | undefined;
  /** For flags with more than a percentage of the targeting keys. */
  readonly decide: Decide | undefined;
  readonly prefix: BucketPrefix;
  /** Hashes below this limit are in. */
  readonly limit: number;
}

// An evaluation only ever returns one of these, so it allocates nothing.
const result = (value: boolean, reason: Reason): EvaluatedFlag =>
  Object.freeze({ value, variant: value ? "on" : "off", reason });
const disabled = result(false, "DISABLED");
export const staticOn = result(true, "STATIC");
export const staticOff = result(false, "STATIC");
export const splitOn = result(true, "SPLIT");
export const splitOff = result(false, "SPLIT");
const newerVersionNeeded: EvaluationError = Object.freeze({
  errorCode: "GENERAL",
  errorDetails:
    "The flag uses a feature that this version does not support: it needs a newer SDK or server.",
});

/** The context lacks the value that a split uses: the targeting key, or this attribute. */
export const missingBucketValue = (attribute?: string): EvaluationError =>
  Object.freeze({
    errorCode: "TARGETING_KEY_MISSING",
    errorDetails:
      attribute === undefined
        ? "The flag is split by targetingKey: add one to the context, as a non-empty string."
        : `The flag is split by the attribute ${attribute}: add it to the context, as a non-empty string or a whole number.`,
  });
const targetingKeyMissing = missingBucketValue();

const flagWith = (flag: Partial<PreparedFlag>): PreparedFlag => ({
  fixed: flag.fixed,
  decide: flag.decide,
  prefix: flag.prefix ?? noPrefix,
  limit: flag.limit ?? 0,
});

/** A flag with the same result for everyone. */
export const fixedFlag = (fixed: Evaluation): PreparedFlag => flagWith({ fixed });

/** A flag that is on for the hashes below the limit. */
export const splitFlag = (prefix: BucketPrefix, limit: number): PreparedFlag =>
  flagWith({ prefix, limit });

/** A flag with rules, variants or prerequisites. */
export const decidedFlag = (decide: Decide): PreparedFlag => flagWith({ decide });

export const offFlag = fixedFlag(disabled);

/** A flag whose type or level this version does not support. It never guesses a value. */
export const unknownFlag = fixedFlag(newerVersionNeeded);

export const evaluate = (
  flag: PreparedFlag,
  context: EvaluationContext,
  turn?: Turn,
): Evaluation => {
  if (flag.fixed !== undefined) return flag.fixed;
  if (flag.decide !== undefined) return flag.decide(context, turn);
  const { targetingKey } = context;
  if (!isTargetingKey(targetingKey)) return targetingKeyMissing;
  return hashFrom(flag.prefix, targetingKey) < flag.limit ? splitOn : splitOff;
};
