// What the rules and segments of an environment already name: attributes, their values, segments.
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import type { AttributeCondition, Scalar } from "@halyard/core/targeting/conditions/operators";
import { isObject } from "@halyard/core/targeting/mistakes";
import type { Targeting } from "@halyard/core/targeting/targeting";

export interface SuggestedNames {
  /** Sorted; the targeting key, which every program sends, comes first. */
  readonly attributes: readonly string[];
  /** The values that are compared with this attribute somewhere, sorted. */
  readonly valuesOf: (attribute: string) => readonly Scalar[];
  /** The keys of the segments that there are, sorted. */
  readonly segments: readonly string[];
}

/** More suggestions help nobody. */
const mostValues = 200;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Every condition on an attribute, also within what a newer version has written. */
const attributesIn = (condition: unknown): readonly AttributeCondition[] => {
  if (!isObject(condition)) return [];
  const { all, any, not, attribute } = condition;
  const inner = [...listOf(all), ...listOf(any), ...(not === undefined ? [] : [not])];
  const own = typeof attribute === "string" ? [condition as unknown as AttributeCondition] : [];
  return [...own, ...inner.flatMap(attributesIn)];
};

const byValue = (one: Scalar, other: Scalar): number => {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one) < String(other) ? -1 : 1;
};

export interface NamedIn {
  readonly flags: readonly Pick<Targeting, "rules" | "bucketBy">[];
  readonly segments: readonly { readonly key: string; readonly when: Condition | null }[];
}

export const collectNames = ({ flags, segments }: NamedIn): SuggestedNames => {
  const values = new Map<string, Set<Scalar>>();
  const known = (attribute: string): Set<Scalar> => {
    const found = values.get(attribute) ?? new Set();
    values.set(attribute, found);
    return found;
  };
  const conditions = [
    ...flags.flatMap(({ rules }) => listOf(rules).map((rule) => isObject(rule) && rule.when)),
    ...segments.map(({ when }) => when),
  ];
  for (const { attribute, value, values: list } of conditions.flatMap(attributesIn)) {
    const found = known(attribute);
    for (const each of [...listOf(list), value]) {
      const isUseful = typeof each === "string" || typeof each === "number";
      if (isUseful && found.size < mostValues) found.add(each);
    }
  }
  for (const { bucketBy } of flags) if (typeof bucketBy === "string") known(bucketBy);
  values.delete("targetingKey");
  return {
    attributes: ["targetingKey", ...[...values.keys()].sort()],
    valuesOf: (attribute) => [...(values.get(attribute) ?? [])].sort(byValue),
    segments: segments.map(({ key }) => key).sort(),
  };
};
