// The common form of flags from other products: values, rules in order, and a default. Assembling a flag leaves out rules
// without an equivalent only if no user gets more than off because of it.
import type { CreateFlag, NewRule } from "@halyard/core/flags/registry";
import type { ValueType } from "@halyard/core/flags/variant";
import type { Share } from "@halyard/core/targeting/split";
import type { Requirement, Serve } from "@halyard/core/targeting/targeting";
import { everyone } from "./leaves.ts";
import { CannotTranslate, type Logic, type Test, tryTo } from "./logic.ts";
import { ruleIds } from "./names.ts";
import { isPartial, layered, type Split } from "./split.ts";
import type { Values } from "./values.ts";

export type Outcome = string | Split;

export interface OutlineRule {
  /** The name in the other product, if the rule has one. */
  readonly name?: string | undefined;
  readonly when: Test;
  readonly serve: Outcome | (() => Outcome);
  readonly disabled?: boolean;
}

export interface Outline {
  readonly enabled: boolean;
  readonly values: Values;
  readonly rules: readonly OutlineRule[];
  readonly otherwise: Outcome | (() => Outcome);
  readonly requires?: readonly Requirement[];
  readonly tags?: readonly string[];
  readonly owner?: string | undefined;
}

/** A flag without key and description. Flags and variants have their original names. */
export type Draft = Omit<CreateFlag, "key" | "description"> & {
  readonly enabled: boolean;
  readonly valueType?: ValueType;
};

/** The prerequisites of a flag, and the reasons why some can't be imported. */
export interface Prerequisites {
  readonly requires: Requirement[];
  readonly reasons: string[];
}

export const notImported = (...reasons: string[]) => ({
  draft: { type: "boolean", enabled: false } satisfies Draft,
  reasons,
});

export interface Assembled {
  readonly draft: Draft;
  /** An on/off flag as a rollout. */
  readonly asRollout: Draft | undefined;
  readonly reasons: readonly string[];
  readonly notes: readonly string[];
  /** Fewer users get a value other than off than in the other product. */
  readonly isNarrower: boolean;
}

interface ReadRule {
  readonly name: string | undefined;
  readonly when: Logic;
  readonly serve: Outcome;
  readonly disabled: boolean;
  readonly exactIf: readonly string[];
}

const read = (outcome: OutlineRule["serve"]): Outcome =>
  typeof outcome === "function" ? outcome() : outcome;

const variantsOf = (outcome: Outcome): readonly string[] =>
  typeof outcome === "string" ? [outcome] : outcome.shares.map(({ variant }) => variant);

const exactOf = (outcome: Outcome): readonly string[] =>
  typeof outcome === "string" ? [] : (outcome.exactIf ?? []);

/** A variant for everyone is not a split. */
const serveOf = (outcome: Outcome): Serve => {
  if (typeof outcome === "string") return outcome;
  const [first] = outcome.shares;
  const isWhole = first !== undefined && outcome.shares.length === 1 && first.share === 100;
  return isWhole ? first.variant : outcome.shares;
};

const labelOf = ({ name }: OutlineRule, index: number): string =>
  name === undefined ? `rule ${index + 1}` : `the rule "${name}"`;

interface Reading {
  readonly rules: readonly ReadRule[];
  readonly reasons: readonly string[];
  readonly notes: readonly string[];
  /** The problems of the rules that are left out. */
  readonly problems: readonly string[];
}

/**
 * Users of a rule that is left out fall through to later rules. This is safe if all later rules serve off, or the
 * same variant as the rule.
 */
const readRules = ({ values, rules }: Outline, otherwise: Outcome | CannotTranslate): Reading => {
  const reasons: string[] = [];
  const notes: string[] = [];
  const problems: string[] = [];
  const found: ReadRule[] = [];
  const after = new Set<string | undefined>(
    otherwise instanceof CannotTranslate ? [undefined] : variantsOf(otherwise),
  );
  for (const [index, rule] of [...rules.entries()].reverse()) {
    const serve = tryTo(() => read(rule.serve));
    const when = tryTo(rule.when.yes);
    const given = serve instanceof CannotTranslate ? [undefined] : variantsOf(serve);
    const problem = [when, serve].find((each) => each instanceof CannotTranslate);
    if (!(problem instanceof CannotTranslate)) {
      found.push({
        name: rule.name,
        when: when as Logic,
        serve: serve as Outcome,
        disabled: rule.disabled === true,
        exactIf: [...(rule.when.exactIf?.yes ?? []), ...exactOf(serve as Outcome)],
      });
      for (const each of rule.disabled === true ? [] : given) after.add(each);
      continue;
    }
    const isFixed = typeof serve === "string";
    const isSafe =
      rule.disabled === true ||
      [...after].every((each) => each === values.off || (isFixed && each === serve));
    if (isSafe) {
      notes.unshift(`${labelOf(rule, index)} is left out, because it ${problem.message}`);
      // A disabled rule has no effect in the other product either.
      if (rule.disabled !== true) problems.unshift(problem.message);
    } else reasons.unshift(problem.message);
  }
  return { rules: found.reverse(), reasons, notes, problems };
};

/** A flag in Halyard has a single bucketing for all of its splits. */
const readBucket = (
  splits: readonly Split[],
  otherwise: Outcome,
  off: string,
): { by?: string | undefined; seed?: string | undefined; reason?: string; note?: string } => {
  const attributes = new Set(splits.map(({ by }) => by));
  const seeds = new Set(splits.map(({ seed }) => seed));
  const [by] = attributes;
  const [seed] = seeds;
  if (attributes.size > 1) {
    const names = [...attributes].map((each) => each ?? "the targeting key");
    return {
      reason: `splits by ${names.join(" and by ")}, but Halyard splits a flag by only one attribute`,
    };
  }
  // A second split matters only for users outside an earlier partial one.
  if (seeds.size < 2 || !splits.slice(0, -1).some(isPartial)) {
    return { by, seed: seeds.size === 1 ? seed : undefined };
  }
  const given = new Set(splits.flatMap(variantsOf).filter((variant) => variant !== off));
  const isNarrower =
    given.size === 1 &&
    splits.every((split) => variantsOf(split).every((variant) => variant !== off)) &&
    typeof otherwise === "string";
  return isNarrower
    ? {
        by,
        note: "its percentages select users independently, but in Halyard the same users: it reaches fewer users",
      }
    : { reason: "has percentages that select users independently, which Halyard does not support" };
};

export const assemble = (outline: Outline): Assembled => {
  const { enabled, values, requires = [], tags = [], owner } = outline;
  const last = tryTo(() => read(outline.otherwise));
  const reading = readRules(outline, last);
  const reasons = [...reading.reasons];
  const notes = [...reading.notes];
  if (last instanceof CannotTranslate) reasons.push(last.message);
  let otherwise: Outcome = last instanceof CannotTranslate ? values.off : last;

  const rules: ReadRule[] = [];
  const exact = new Set(exactOf(otherwise));
  for (const rule of reading.rules) {
    // A constant condition can still depend on the types of attributes.
    if (!rule.disabled) for (const each of rule.exactIf) exact.add(each);
    // Keep a disabled rule only for its condition.
    if (rule.when === false || (rule.when === true && rule.disabled)) continue;
    rules.push(rule);
    const isFinal = typeof rule.serve === "string" || !isPartial(rule.serve);
    if (rule.when === true && isFinal) break;
  }
  const splits = [
    ...rules.filter(({ disabled }) => !disabled).map(({ serve }) => serve),
    otherwise,
  ].filter((each): each is Split => typeof each === "object" && typeof serveOf(each) !== "string");
  const { by, seed, reason, note } = readBucket(splits, otherwise, values.off);
  // A rule for everyone at the end becomes the default.
  for (let rule = rules.at(-1); rule?.when === true; rule = rules.at(-1)) {
    const { serve } = rule;
    otherwise =
      typeof serve === "string" || !isPartial(serve)
        ? serve
        : { ...serve, shares: layered(serve.shares, serveOf(otherwise)) };
    rules.pop();
  }

  if (reason !== undefined) reasons.push(reason);
  if (note !== undefined) notes.push(note);
  if (exact.size > 0) notes.push(`exact only if ${[...exact].join(" and ")}`);

  const ids = ruleIds(rules.map(({ name }) => name));
  const newRules = rules
    .filter(({ serve }) => typeof serve === "string" || serve.shares.length > 0)
    .map(
      ({ name, when, serve, disabled }, index): NewRule => ({
        id: ids[index] ?? `rule-${index + 1}`,
        ...(name !== undefined && name !== ids[index] && { description: name }),
        ...(disabled && { disabled }),
        when: typeof when === "boolean" ? everyone : when,
        serve: serveOf(serve),
      }),
    );
  const targeting = {
    ...(requires.length > 0 && { requires }),
    ...(newRules.length > 0 && { rules: newRules }),
    ...(splits.length > 0 && by !== undefined && { bucketBy: by }),
    ...(splits.length > 0 && seed !== undefined && { bucketSeed: seed }),
    ...(tags.length > 0 && { tags }),
    ...(owner !== undefined && { owner }),
  };
  const left = [otherwise, ...rules.map(({ serve }) => serve)].flatMap(variantsOf);
  const { problems } = reading;
  const isNarrower = problems.length > 0 || note !== undefined;
  // A flag is not imported if nothing but off remains.
  if (problems.length > 0 && left.every((variant) => variant === values.off)) {
    reasons.push(...problems);
  }
  const asRollout =
    otherwise === "on" || otherwise === "off"
      ? rolloutOf(enabled, otherwise === "on" ? 100 : 0, targeting)
      : undefined;
  return {
    draft: draftOf(enabled, values, otherwise, targeting),
    asRollout: values.valueType === "boolean" ? asRollout : undefined,
    reasons,
    notes,
    isNarrower,
  };
};

type Targeting = Pick<Draft, "rules" | "requires" | "bucketBy" | "bucketSeed" | "tags" | "owner">;

const rolloutOf = (enabled: boolean, percentage: number, targeting: Targeting): Draft => ({
  type: "rollout",
  enabled,
  percentage,
  ...targeting,
});

const draftOf = (
  enabled: boolean,
  values: Values,
  otherwise: Outcome,
  targeting: Targeting,
): Draft => {
  if (values.valueType !== "boolean") {
    const { valueType, variants, off } = values;
    const own = { valueType, variants, off, otherwise: serveOf(otherwise) };
    return { type: "variant", enabled, ...own, ...targeting };
  }
  if (typeof otherwise === "object") {
    const on = otherwise.shares.filter(({ variant }: Share) => variant === "on");
    const percentage = on.reduce((sum, { share }) => Math.round((sum + share) * 1_000) / 1_000, 0);
    return rolloutOf(enabled, percentage, targeting);
  }
  const isOn = otherwise === "on";
  return targeting.rules === undefined
    ? // A flag that is on but serves false is off in Halyard.
      { type: "boolean", enabled: enabled && isOn, ...targeting }
    : { type: "boolean", enabled, otherwise: isOn ? "on" : "off", ...targeting };
};
