// Explains an evaluation: every step of the decision with its result.
import { bucketPrefix, hashFrom } from "../bucket.ts";
import type { EvaluationContext } from "../context.ts";
import { type Evaluation, evaluate } from "../evaluate.ts";
import { allThousandths, fromThousandths } from "../percentage.ts";
import { ownMembersOf, readerOf } from "./conditions/attribute.ts";
import { type Condition, compileCondition } from "./conditions/condition.ts";
import type { AttributeCondition } from "./conditions/operators.ts";
import { isFalse, isTrue, type Truth } from "./conditions/truth.ts";
import { bucketValueOf, compileDecision, type Decidable, type Environment } from "./decision.ts";
import type { Serve } from "./targeting.ts";

export type ShownTruth = boolean | "unknown";

/** A condition with its result. A condition on an attribute includes the value in the context. */
export type ExplainedCondition =
  | { readonly all: readonly ExplainedCondition[]; readonly result: ShownTruth }
  | { readonly any: readonly ExplainedCondition[]; readonly result: ShownTruth }
  | { readonly not: ExplainedCondition; readonly result: ShownTruth }
  | {
      readonly segment: readonly { readonly key: string; readonly result: ShownTruth }[];
      readonly result: ShownTruth;
    }
  | (AttributeCondition & {
      /** Absent when the attribute is missing. */
      readonly found?: unknown;
      readonly result: ShownTruth;
    });

export interface ExplainedRule {
  readonly id: string;
  readonly disabled?: true;
  readonly when: ExplainedCondition;
  readonly serve: Serve;
  /** Whether this rule decided. A rule can match without deciding if its split doesn't reach the bucket. */
  readonly decided: boolean;
}

export interface ExplainedRequirement {
  readonly flag: string;
  readonly variant: string;
  /** What the prerequisite returns; null if the flag does not exist. */
  readonly found: Evaluation | null;
  readonly met: boolean;
}

export interface Explanation {
  readonly decision: Evaluation;
  readonly requires: readonly ExplainedRequirement[];
  readonly rules: readonly ExplainedRule[];
  readonly bucket: {
    /** The attribute used for bucketing. */
    readonly by: string;
    readonly seed: string;
    /** Null if the context has no usable value. */
    readonly value: string | null;
    readonly hash: number | null;
    /** The lowest percentage at which a rollout includes the value. */
    readonly percentage: number | null;
  };
}

const longestFound = 1_024;
/** The value for display, such as JSON. */
const shortFound = (value: unknown): unknown => {
  const text = typeof value === "object" && value !== null ? JSON.stringify(value) : value;
  return typeof text === "string" && text.length > longestFound
    ? `${text.slice(0, longestFound)}…`
    : value;
};

const shown = (truth: Truth): ShownTruth =>
  truth === isTrue ? true : truth === isFalse ? false : "unknown";

const explainCondition = (
  condition: Condition,
  { segment }: Environment,
  context: EvaluationContext,
): ExplainedCondition => {
  const explain = (each: Condition) =>
    explainCondition(each, { segment, flag: () => undefined }, context);
  const result = shown(compileCondition(condition, segment)(context));
  if ("all" in condition) return { all: condition.all.map(explain), result };
  if ("any" in condition) return { any: condition.any.map(explain), result };
  if ("not" in condition) return { not: explain(condition.not), result };
  if ("segment" in condition) {
    const ofOne = (key: string) => shown(compileCondition({ segment: [key] }, segment)(context));
    return { segment: condition.segment.map((key) => ({ key, result: ofOne(key) })), result };
  }
  const found = shortFound(readerOf(condition.attribute)(context));
  return { ...condition, ...(found !== undefined && { found }), result };
};

/** Compiles the flag for every call, so use it for display and not for evaluation. */
export const explainDecision = (
  flag: Decidable,
  environment: Environment,
  given: EvaluationContext,
): Explanation => {
  const context = ownMembersOf(given);
  const { requires = [], rules = [], bucketBy, bucketSeed } = flag.targeting;
  const decision = compileDecision(flag, environment)(context);
  const decidedBy = "errorCode" in decision ? undefined : decision.rule;
  const seed = bucketSeed ?? flag.key;
  const value = bucketValueOf(bucketBy)(context) ?? null;
  const hash = value === null ? null : hashFrom(bucketPrefix(seed), value);
  return {
    decision,
    requires: requires.map(({ flag: key, variant }) => {
      const prepared = environment.flag(key);
      const found = prepared === undefined ? null : evaluate(prepared, context);
      const met = found !== null && !("errorCode" in found) && found.variant === variant;
      return { flag: key, variant, found, met };
    }),
    rules: rules.map(({ id, disabled, when, serve }) => ({
      id,
      ...(disabled === true && { disabled }),
      when: explainCondition(when, environment, context),
      serve,
      decided: id === decidedBy,
    })),
    bucket: {
      by: bucketBy ?? "targetingKey",
      seed,
      value,
      hash,
      percentage:
        hash === null ? null : fromThousandths(Math.floor((hash * allThousandths) / 2 ** 32) + 1),
    },
  };
};
