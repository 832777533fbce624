// Compiles the targeting of a flag into one function. It allocates nothing unless the flag has prerequisites.
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

/** The other flags and segments, looked up by key at each evaluation, so that changing them needs no recompilation. */
export interface Environment {
  readonly segment: SegmentTest;
  /** Undefined if the flag does not exist. */
  readonly flag: (key: string) => PreparedFlag | undefined;
}

/** The variants of a flag. */
export interface Choice {
  readonly variants: Readonly<Record<string, FlagValue>>;
  /** The variant while the flag is off, or while a prerequisite is not met. */
  readonly off: string;
  /** The default rule. */
  readonly otherwise: Serve;
}

export interface Decidable extends Choice {
  readonly key: string;
  readonly enabled: boolean;
  readonly targeting: Targeting;
}

/** Maximum depth of prerequisites. */
export const maxDepth = 5;
export const maxFlags = 50;

const missingFlag: EvaluationError = Object.freeze({
  errorCode: "GENERAL",
  errorDetails: "A prerequisite of the flag does not exist.",
});

/** The text to hash; undefined if the context has none. */
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
  /** The rule matches if all parts are true. */
  readonly parts: readonly Part[];
  /** The result for all contexts that the rule matches; undefined for a split. */
  readonly fixed: EvaluatedFlag | undefined;
  readonly find: (hash: number) => number;
  readonly results: readonly EvaluatedFlag[];
}

const findNone = (): number => 0;
const noResults: readonly EvaluatedFlag[] = [];

export const compileDecision = (flag: Decidable, environment: Environment): Decide => {
  const { key, variants, off, otherwise, targeting } = flag;
  const { rules, bucketBy, bucketSeed } = targeting;
  // Read now, so that an invalid stored flag fails here and not at evaluation.
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
  // The split's shares end before this bucket: return the off variant.
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
