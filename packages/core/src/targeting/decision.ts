// Compiles what a flag says about who gets which variant into one function. It allocates nothing unless the flag requires others.
import { bucketPrefix, hashFrom } from "../bucket.ts";
import { type EvaluationContext, isTargetingKey } from "../context.ts";
import {
  type Decide,
  type EvaluatedFlag,
  type Evaluation,
  type EvaluationError,
  evaluate,
  type FlagValue,
  missingBucketValue,
  type PreparedFlag,
  type Reason,
} from "../evaluate.ts";
import { ownMembersOf, readerOf } from "./conditions/attribute.ts";
import { areTrue, compileParts, type Part, type SegmentTest } from "./conditions/condition.ts";
import { isShortText } from "./conditions/texts.ts";
import { compileSplit, type Share } from "./split.ts";
import type { Requirement, Rule, Serve, Targeting } from "./targeting.ts";
import { Turn } from "./turn.ts";

/** The rest of the environment, looked up by key at every evaluation: a change of it compiles no flag anew. */
export interface Environment {
  readonly segment: SegmentTest;
  /** Undefined when there is no such flag. */
  readonly flag: (key: string) => PreparedFlag | undefined;
}

/** What a flag chooses between. */
export interface Choice {
  readonly variants: Readonly<Record<string, FlagValue>>;
  /** The variant of a flag that is not enabled, or whose requirements are not met. */
  readonly off: string;
  /** When no rule decides. */
  readonly otherwise: Serve;
}

export interface Decidable extends Choice {
  readonly key: string;
  readonly enabled: boolean;
  readonly targeting: Targeting;
}

/** Of requirements of requirements. */
export const maxDepth = 5;
export const maxFlags = 50;

const missingFlag: EvaluationError = Object.freeze({
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
    if (typeof value === "string") return value !== "" && isShortText(value) ? value : undefined;
    return Number.isSafeInteger(value) ? String(value) : undefined;
  };
};

const areMet = (
  requires: readonly Requirement[],
  environment: Environment,
  context: EvaluationContext,
  turn: Turn,
): boolean => {
  if (turn.depth >= maxDepth) return false;
  if (turn.depth === 0) turn.left = maxFlags;
  turn.depth += 1;
  const isMet = ({ flag, variant }: Requirement): boolean => {
    let evaluation = turn.evaluations.get(flag);
    if (evaluation === undefined) {
      if (turn.left === 0) return false;
      turn.left -= 1;
      const prepared = environment.flag(flag);
      evaluation = prepared === undefined ? missingFlag : evaluate(prepared, context, turn);
      turn.evaluations.set(flag, evaluation);
    }
    return !("errorCode" in evaluation) && evaluation.variant === variant;
  };
  const result = requires.every(isMet);
  turn.depth -= 1;
  return result;
};

interface CompiledRule {
  /** It matches when all of them are true. */
  readonly parts: readonly Part[];
  /** The result for everyone whom the rule matches; undefined for a split. */
  readonly fixed: EvaluatedFlag | undefined;
  readonly find: (hash: number) => number;
  readonly results: readonly EvaluatedFlag[];
}

const findNone = (): number => 0;
const noResults: readonly EvaluatedFlag[] = [];

export const compileDecision = (flag: Decidable, environment: Environment): Decide => {
  const { key, variants, off, otherwise, targeting } = flag;
  const { rules, bucketBy, bucketSeed } = targeting;
  // Read now, so that a flag that something else has written fails here and not when it is evaluated.
  const requires = (targeting.requires ?? []).map((each) => ({
    flag: each.flag,
    variant: each.variant,
  }));
  const result = (variant: string, reason: Reason, rule?: string): EvaluatedFlag =>
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
      return { fixed: result(serve, fixedReason, rule), find: findNone, results: noResults };
    }
    const results = serve.map(({ variant }: Share) => result(variant, "SPLIT", rule));
    return { fixed: undefined, find: compileSplit(serve), results };
  };
  const compiled = (rules ?? [])
    .filter(({ disabled }) => disabled !== true)
    .map(
      ({ id, when, serve }: Rule): CompiledRule => ({
        parts: compileParts(when, environment.segment),
        ...compileServe(serve, "TARGETING_MATCH", id),
      }),
    );
  const last: CompiledRule = {
    parts: [],
    ...compileServe(otherwise, rules === undefined ? "STATIC" : "DEFAULT"),
  };
  const steps = [...compiled, last];
  const prefix = bucketPrefix(bucketSeed ?? key);
  const bucketValue = bucketValueOf(bucketBy);
  const missing = missingBucketValue(bucketBy);
  const notMet = result(off, "PREREQUISITE_FAILED");
  // A split that reaches nobody of those who are left: the flag's own off.
  const unreached = result(off, rules === undefined ? "SPLIT" : "DEFAULT");

  const decide = (context: EvaluationContext, turn?: Turn): Evaluation => {
    let hash = -1;
    for (const step of steps) {
      if (!areTrue(step.parts, context, turn)) continue;
      if (step.fixed !== undefined) return step.fixed;
      if (hash === -1) {
        const value = bucketValue(context);
        if (value === undefined) return missing;
        hash = hashFrom(prefix, value);
      }
      const reached = step.results[step.find(hash)];
      if (reached !== undefined) return reached;
    }
    return unreached;
  };
  if (requires.length === 0) return (context, turn) => decide(ownMembersOf(context), turn);
  return (context, turn = new Turn()) => {
    const own = ownMembersOf(context);
    return areMet(requires, environment, own, turn) ? decide(own, turn) : notMet;
  };
};
