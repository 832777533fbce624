// Attributes that a flag asks for and that no context of a sample has: what depends on them cannot be known.
import type { EvaluationContext } from "../context.ts";
import type { Flag } from "../flags/registry.ts";
import { readerOf } from "../targeting/conditions/attribute.ts";
import type { Condition } from "../targeting/conditions/condition.ts";
import type { AttributeCondition } from "../targeting/conditions/operators.ts";
import { conditionsOf, flagsBelow, type Rewrite, type Side } from "./side.ts";

/** Tells whether no context has it. Each attribute is looked for once. */
export type IsUnseen = (attribute: string) => boolean;

export const createIsUnseen = (contexts: readonly EvaluationContext[]): IsUnseen => {
  const known = new Map<string, boolean>();
  return (attribute) => {
    // Whoever has no targeting key is known to have none.
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

/** Also of a condition that a newer version has written: what this one does not know asks for nothing. */
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
  /** The conditions on them, as texts, each once. */
  readonly leaves: readonly string[];
  /** Splits of the flag itself go by one of them. */
  readonly isBucket: boolean;
  /** Splits of a flag that it requires go by one of them. */
  readonly isBucketBelow: boolean;
}

/** What a flag and those that it requires ask for, on one side. */
export const attributesIn = (side: Side, key: string): ReadonlySet<string> => {
  const flags = flagsBelow(side, key);
  const leaves = flags.flatMap((flag) => conditionsOf(side, flag)).flatMap(leavesOf);
  return new Set([...leaves.map(({ attribute }) => attribute), ...flags.flatMap(bucketByOf)]);
};

/** What nobody can know of a flag, on one side. */
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

/** True or false for everybody, since nobody has the attribute. */
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

/** More are as good as none: each costs an evaluation of every context. */
const maxAlone = 6;

/**
 * What could be so if contexts had the attributes: all conditions on them false, all true, and each true alone. Who changes
 * in one of these and not in another is unknown.
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
