// Finds attributes that a flag uses but no sampled context has. Results that depend on them are undetermined.
import type { EvaluationContext } from "../context.ts";
import type { Flag } from "../flags/registry.ts";
import { readerOf } from "../targeting/conditions/attribute.ts";
import type { Condition } from "../targeting/conditions/condition.ts";
import type { AttributeCondition } from "../targeting/conditions/operators.ts";
import { conditionsOf, flagsBelow, type Rewrite, type Side } from "./side.ts";

/** Whether no context has the attribute. Cached by attribute. */
export type IsUnseen = (attribute: string) => boolean;

export const createIsUnseen = (contexts: readonly EvaluationContext[]): IsUnseen => {
  const known = new Map<string, boolean>();
  return (attribute) => {
    // A context without a targeting key really has none.
    if (attribute === "targetingKey" || attribute === "/targetingKey") return false;
    let unseen = known.get(attribute);
    if (unseen === undefined) {
      const read = readerOf(attribute);
      unseen = !contexts.some((context) => read(context) !== undefined);
      known.set(attribute, unseen);
    }
    return unseen;
  };
};

/** Accepts conditions that a newer version wrote. Unknown ones have no attributes. */
const leavesOf = (condition: Condition): readonly AttributeCondition[] => {
  if (typeof condition !== "object" || condition === null) return [];
  const inEach = (list: readonly Condition[]) =>
    Array.isArray(list) ? list.flatMap(leavesOf) : [];
  if ("all" in condition) return inEach(condition.all);
  if ("any" in condition) return inEach(condition.any);
  if ("not" in condition) return leavesOf(condition.not);
  if ("segment" in condition) return [];
  return typeof condition.attribute === "string" ? [condition] : [];
};

export interface Unseen {
  readonly attributes: readonly string[];
  /** The distinct conditions on these attributes, as JSON. */
  readonly leaves: readonly string[];
  /** Whether the flag itself is bucketed by one of them. */
  readonly isBucket: boolean;
  /** Whether a prerequisite is bucketed by one of them. */
  readonly isBucketBelow: boolean;
}

/** The attributes that a flag and its prerequisites use, on one side. */
export const attributesIn = (side: Side, key: string): ReadonlySet<string> => {
  const flags = flagsBelow(side, key);
  const leaves = flags.flatMap((flag) => conditionsOf(side, flag)).flatMap(leavesOf);
  return new Set([...leaves.map(({ attribute }) => attribute), ...flags.flatMap(bucketByOf)]);
};

/** The undetermined parts of a flag, on one side. */
export const unseenIn = (side: Side, key: string, isUnseen: IsUnseen): Unseen => {
  const flags = flagsBelow(side, key);
  const leaves = flags
    .flatMap((flag) => conditionsOf(side, flag))
    .flatMap(leavesOf)
    .filter(({ attribute }) => isUnseen(attribute));
  const isBucketOf = ({ bucketBy }: Flag) => bucketBy !== undefined && isUnseen(bucketBy);
  const buckets = flags.filter(isBucketOf);
  const named = [...leaves.map(({ attribute }) => attribute), ...buckets.flatMap(bucketByOf)];
  return {
    attributes: [...new Set(named)],
    leaves: [...new Set(leaves.map((leaf) => JSON.stringify(leaf)))],
    isBucket: buckets.some((flag) => flag.key === key),
    isBucketBelow: buckets.some((flag) => flag.key !== key),
  };
};

const bucketByOf = ({ bucketBy }: Flag): readonly string[] =>
  bucketBy === undefined ? [] : [bucketBy];

/** A condition with a fixed result, because no context has the attribute. */
const settled = (attribute: string, holds: boolean): Condition => ({
  attribute,
  op: "exists",
  value: !holds,
});

const rewriting = (unseen: ReadonlySet<string>, holds: (leaf: string) => boolean): Rewrite => {
  const rewrite: Rewrite = (condition) => {
    if ("all" in condition) return { all: condition.all.map(rewrite) };
    if ("any" in condition) return { any: condition.any.map(rewrite) };
    if ("not" in condition) return { not: rewrite(condition.not) };
    if ("segment" in condition) return condition;
    const leaf = JSON.stringify(condition);
    return unseen.has(leaf) ? settled(condition.attribute, holds(leaf)) : condition;
  };
  return rewrite;
};

/** A limit, because each case takes an evaluation of every context. */
const maxAlone = 6;

/**
 * The possible cases if contexts had the attributes: all conditions on them false, all true, and each true alone. A
 * context whose value changes in one case but not in another is undetermined.
 */
export const possibleWorlds = (leaves: readonly string[]): readonly Rewrite[] => {
  if (leaves.length === 0) return [];
  const unseen = new Set(leaves);
  const alone = leaves.length === 1 ? [] : leaves.slice(0, maxAlone);
  return [
    rewriting(unseen, () => false),
    rewriting(unseen, () => true),
    ...alone.map((only) => rewriting(unseen, (leaf) => leaf === only)),
  ];
};
