// Compiles what a flag says about who gets which variant into one function. It allocates nothing unless the flag requires others.
import { bucketPrefix, hashFrom } from "../bucket.ts";
import { type EvaluationContext, isTargetingKey } from "../context.ts";
import { readerOf } from "./attribute.ts";
import { compileCondition, type SegmentTest, type Test } from "./condition.ts";
import { compileSplit, type Share } from "./split.ts";
import type { Requirement, Rule, Serve, Targeting } from "./targeting.ts";
import { isTrue } from "./truth.ts";

export type FlagValue = boolean | string | number | object;

export type Reason =
  | "STATIC"
  | "DISABLED"
  | "SPLIT"
  | "TARGETING_MATCH"
  | "DEFAULT"
  | "PREREQUISITE_FAILED";

export interface Decided {
  readonly value: FlagValue;
  readonly variant: string;
  readonly reason: Reason;
  /** The rule that decided. */
  readonly rule?: string;
}

export interface DecisionError {
  readonly errorCode: "TARGETING_KEY_MISSING" | "GENERAL";
  readonly errorDetails: string;
}

export type Decision = Decided | DecisionError;

/** One evaluation with the flags that it requires, each of which is evaluated once. */
export interface Turn {
  depth: number;
  /** How many flags may still be evaluated. */
  left: number;
  readonly decisions: Map<string, Decision>;
}

export type Decide = (context: EvaluationContext, turn?: Turn) => Decision;

/** The rest of the environment, looked up by key at every evaluation: a change of it compiles no flag anew. */
export interface Environment {
  readonly segment: SegmentTest;
  /** Undefined when there is no such flag. */
  readonly flag: (key: string) => Decide | undefined;
}

/** What a type of flag brings along. */
export interface Decidable {
  readonly key: string;
  readonly enabled: boolean;
  readonly variants: Readonly<Record<string, FlagValue>>;
  /** The variant of a flag that is not enabled, or whose requirements are not met. */
  readonly off: string;
  /** When no rule decides. */
  readonly otherwise: Serve;
  readonly targeting: Targeting;
}

/** Of requirements of requirements. */
export const maxDepth = 5;
export const maxFlags = 50;

const missingFlag: DecisionError = Object.freeze({
  errorCode: "GENERAL",
  errorDetails: "The flag that is required does not exist.",
});

/** The text that is hashed; undefined when the context has none. */
type BucketValue = (context: EvaluationContext) => string | undefined;

const ofTargetingKey: BucketValue = ({ targetingKey }) =>
  isTargetingKey(targetingKey) ? targetingKey : undefined;

export const bucketValueOf = (attribute: string | undefined): BucketValue => {
  if (attribute === undefined) return ofTargetingKey;
  const read = readerOf(attribute);
  return (context) => {
    const value = read(context);
    if (typeof value === "string") return value === "" ? undefined : value;
    return Number.isSafeInteger(value) ? String(value) : undefined;
  };
};

const missingValue = (attribute: string | undefined): DecisionError =>
  Object.freeze({
    errorCode: "TARGETING_KEY_MISSING",
    errorDetails:
      attribute === undefined
        ? "The flag reaches a percentage of the targeting keys: put a targetingKey into the context, as a text that is not empty."
        : `The flag reaches a percentage by the attribute ${attribute}: put it into the context, as a text that is not empty or a whole number.`,
  });

const areMet = (
  requires: readonly Requirement[],
  environment: Environment,
  context: EvaluationContext,
  turn: Turn,
): boolean => {
  if (turn.depth >= maxDepth) return false;
  turn.depth += 1;
  const isMet = ({ flag, variant }: Requirement): boolean => {
    let decision = turn.decisions.get(flag);
    if (decision === undefined) {
      if (turn.left === 0) return false;
      turn.left -= 1;
      decision = environment.flag(flag)?.(context, turn) ?? missingFlag;
      turn.decisions.set(flag, decision);
    }
    return !("errorCode" in decision) && decision.variant === variant;
  };
  const result = requires.every(isMet);
  turn.depth -= 1;
  return result;
};

interface CompiledRule {
  readonly test: Test;
  /** The result for everyone whom the rule matches; undefined for a split. */
  readonly fixed: Decided | undefined;
  readonly find: (hash: number) => number;
  readonly results: readonly Decided[];
}

export const compileDecision = (flag: Decidable, environment: Environment): Decide => {
  const { key, variants, off, otherwise, targeting } = flag;
  const { requires = [], rules, bucketBy, bucketSeed } = targeting;
  const result = (variant: string, reason: Reason, rule?: string): Decided =>
    Object.freeze({
      value: variants[variant] ?? false,
      variant,
      reason,
      ...(rule !== undefined && { rule }),
    });
  if (!flag.enabled) {
    const disabled = result(off, "DISABLED");
    return () => disabled;
  }
  const compileServe = (serve: Serve, fixedReason: Reason, rule?: string) => {
    if (typeof serve === "string") {
      return { fixed: result(serve, fixedReason, rule), find: () => 0, results: [] };
    }
    const results = serve.map(({ variant }: Share) => result(variant, "SPLIT", rule));
    return { fixed: undefined, find: compileSplit(serve), results };
  };
  const compiled = (rules ?? [])
    .filter(({ disabled }) => disabled !== true)
    .map(
      ({ id, when, serve }: Rule): CompiledRule => ({
        test: compileCondition(when, environment.segment),
        ...compileServe(serve, "TARGETING_MATCH", id),
      }),
    );
  const last: CompiledRule = {
    test: () => isTrue,
    ...compileServe(otherwise, rules === undefined ? "STATIC" : "DEFAULT"),
  };
  const steps = [...compiled, last];
  const prefix = bucketPrefix(bucketSeed ?? key);
  const bucketValue = bucketValueOf(bucketBy);
  const missing = missingValue(bucketBy);
  const notMet = result(off, "PREREQUISITE_FAILED");
  // A split that reaches nobody of those who are left: the flag's own off.
  const unreached = result(off, rules === undefined ? "SPLIT" : "DEFAULT");

  const decide = (context: EvaluationContext): Decision => {
    let hash = -1;
    for (const { test, fixed, find, results } of steps) {
      if (test(context) !== isTrue) continue;
      if (fixed !== undefined) return fixed;
      if (hash === -1) {
        const value = bucketValue(context);
        if (value === undefined) return missing;
        hash = hashFrom(prefix, value);
      }
      const reached = results[find(hash)];
      if (reached !== undefined) return reached;
    }
    return unreached;
  };
  if (requires.length === 0) return decide;
  return (context, turn = { depth: 0, left: maxFlags, decisions: new Map() }) =>
    areMet(requires, environment, context, turn) ? decide(context) : notMet;
};
