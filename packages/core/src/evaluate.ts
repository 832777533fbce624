// A flag and a context give a value with its variant and reason, or the error that says what the context lacks.
import { type BucketPrefix, bucketPrefix, hashFrom, hashLimit } from "./bucket.ts";
import { type EvaluationContext, isTargetingKey } from "./context.ts";
import type { Flag } from "./flag.ts";
import { allThousandths, thousandthsPerPercent } from "./percentage.ts";

export interface EvaluatedFlag {
  readonly value: boolean;
  readonly variant: "on" | "off";
  readonly reason: "STATIC" | "DISABLED" | "SPLIT";
}

export interface EvaluationError {
  readonly errorCode: "TARGETING_KEY_MISSING";
  readonly errorDetails: string;
}

export type Evaluation = EvaluatedFlag | EvaluationError;

/** A flag made ready for many evaluations. */
export interface PreparedFlag {
  /** The answer when it does not depend on who asks. */
  readonly fixed: EvaluatedFlag | undefined;
  readonly prefix: BucketPrefix;
  readonly limit: number;
}

// An evaluation only ever hands out one of these, so it allocates nothing.
const answer = (value: boolean, reason: EvaluatedFlag["reason"]): EvaluatedFlag =>
  Object.freeze({ value, variant: value ? "on" : "off", reason });
const disabled = answer(false, "DISABLED");
const staticOn = answer(true, "STATIC");
const staticOff = answer(false, "STATIC");
const splitOn = answer(true, "SPLIT");
const splitOff = answer(false, "SPLIT");
const targetingKeyMissing: EvaluationError = Object.freeze({
  errorCode: "TARGETING_KEY_MISSING",
  errorDetails:
    "The flag reaches a percentage of the targeting keys: put a targetingKey into the context, as a text that is not empty.",
});

const fixedAnswer = (flag: Flag, thousandths: number): EvaluatedFlag | undefined => {
  if (!flag.enabled) return disabled;
  if (flag.type === "boolean" || thousandths >= allThousandths) return staticOn;
  return thousandths > 0 ? undefined : staticOff;
};

export const prepare = (flag: Flag): PreparedFlag => {
  const percentage = flag.type === "rollout" ? flag.percentage : 0;
  const thousandths = Math.round(percentage * thousandthsPerPercent);
  return {
    fixed: fixedAnswer(flag, thousandths),
    prefix: bucketPrefix(flag.key),
    limit: hashLimit(thousandths),
  };
};

/** The targeting key is whatever the context holds under that name. */
export const evaluatePrepared = (flag: PreparedFlag, targetingKey: unknown): Evaluation => {
  if (flag.fixed !== undefined) return flag.fixed;
  if (!isTargetingKey(targetingKey)) return targetingKeyMissing;
  return hashFrom(flag.prefix, targetingKey) < flag.limit ? splitOn : splitOff;
};

export const evaluate = (flag: Flag, context: EvaluationContext = {}): Evaluation =>
  evaluatePrepared(prepare(flag), context.targetingKey);
