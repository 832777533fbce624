// Changes of a tree of conditions: what stands in what, how deep it is, and how a part becomes a group or stops being one.
import { isSameValue } from "@halyard/core/difference";
import { type Condition, isEveryone } from "@halyard/core/targeting/conditions/condition";
import { isObject, type Members } from "@halyard/core/targeting/mistakes";

/** Counting the condition on an attribute or a segment itself. */
export const maxLevels = 6;

export type GroupKind = "all" | "any" | "not";
type ConditionKind = GroupKind | "attribute" | "segment" | "everyone" | "unknown";

const isScalar = (value: unknown): boolean =>
  ["string", "number", "boolean"].includes(typeof value);

const isAttributeCondition = ({ attribute, op, value, values }: Members): boolean =>
  typeof attribute === "string" &&
  typeof op === "string" &&
  (value === undefined || isScalar(value)) &&
  (values === undefined || (Array.isArray(values) && values.every(isScalar)));

/** `unknown` is what a newer version has written, or what is typed as JSON and is not a condition. */
export const kindOf = (condition: unknown): ConditionKind => {
  if (!isObject(condition)) return "unknown";
  const kinds = ["all", "any", "not", "segment", "attribute"] as const;
  const given = kinds.filter((kind) => Object.hasOwn(condition, kind));
  const [kind = "unknown"] = given;
  if (given.length !== 1) return "unknown";
  const isList = kind === "all" || kind === "any" || kind === "segment";
  const list = condition[kind];
  if (isList && !Array.isArray(list)) return "unknown";
  if (kind === "segment" && !(list as unknown[]).every((key) => typeof key === "string")) {
    return "unknown";
  }
  if (kind === "all" && isEveryone(condition)) return "everyone";
  return kind === "attribute" && !isAttributeCondition(condition) ? "unknown" : kind;
};

/** What stands in a group; nothing of a condition that is none. */
export const innerOf = (condition: Condition): readonly Condition[] => {
  switch (kindOf(condition)) {
    case "all":
      return (condition as { all: readonly Condition[] }).all;
    case "any":
      return (condition as { any: readonly Condition[] }).any;
    case "not":
      return [(condition as { not: Condition }).not];
    default:
      return [];
  }
};

export const levelsOf = (condition: Condition): number =>
  1 + Math.max(0, ...innerOf(condition).map(levelsOf));

/** Members that this page does not know stay. */
export const withInner = (group: Condition, inner: readonly Condition[]): Condition => {
  const kind = kindOf(group);
  if (kind === "not") return { ...group, not: inner[0] } as Condition;
  return { ...group, [kind]: inner } as Condition;
};

/** Where the condition at this index stands, below the place of the group. */
export const placeIn = (group: Condition, place: string, index: number): string =>
  kindOf(group) === "not" ? `${place}.not` : `${place}.${kindOf(group)}[${index}]`;

export const newCondition: Condition = { attribute: "", op: "in", values: [] };
export const newSegmentCondition: Condition = { segment: [] };

/** Whether another condition can replace it without losing anything. */
export const isBlank = (condition: Condition | null): boolean =>
  condition === null || isSameValue(condition, newCondition);

/** Adds a condition that must also hold: to the same `all`, or to a new one. It replaces "everyone". */
export const withAnother = (condition: Condition | null, added: Condition): Condition => {
  if (condition === null || isEveryone(condition)) return added;
  const isList = ["all", "any"].includes(kindOf(condition));
  if (isList) return withInner(condition, [...innerOf(condition), added]);
  return { all: [condition, added] };
};

export const wrapped = (condition: Condition, kind: GroupKind): Condition =>
  kind === "not" ? { not: condition } : ({ [kind]: [condition] } as unknown as Condition);

/** All becomes any and the other way round; the rest stays. */
export const asKind = (group: Condition, kind: "all" | "any"): Condition => {
  const { all: _, any: __, ...rest } = group as Record<string, unknown>;
  return { ...rest, [kind]: innerOf(group) } as unknown as Condition;
};
