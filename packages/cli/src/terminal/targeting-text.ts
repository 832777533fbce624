// Formats conditions, rules and splits as text, with conditions in the short form of the command line.
import { formatServe } from "@halyard/core/flags/variant";
import { type Condition, isEveryone } from "@halyard/core/targeting/conditions/condition";
import type { AttributeCondition, Scalar } from "@halyard/core/targeting/conditions/operators";
import type { Rule } from "@halyard/core/targeting/targeting";
import { inOneLine } from "./output.ts";

/** Quotes a value that the short form would otherwise read differently. */
const scalarText = (value: Scalar, hasNumbers: boolean): string => {
  if (typeof value !== "string") return String(value);
  const isPlain = /^[^\s",][^",]*$/.test(value) && value === value.trim();
  const looksLikeOther = hasNumbers && /^(-?\d|true$|false$)/.test(value);
  return isPlain && !looksLikeOther ? value : JSON.stringify(value);
};

/** A single value extends to the end of the line, so only strings that look like JSON need quotes. */
const valueText = (value: Scalar | undefined): string =>
  typeof value === "string" && !value.startsWith('"') ? value : JSON.stringify(value);

export const attributeText = (condition: AttributeCondition): string => {
  const { attribute, op, value, values, ignoreCase, as } = condition;
  if (op === "exists") return `${attribute} ${value === false ? "missing" : "exists"}`;
  const what =
    values === undefined
      ? valueText(value)
      : values.map((each) => scalarText(each, op === "in" || op === "notIn")).join(",");
  const more = ignoreCase === true ? " (in any case)" : as === "number" ? " (as a number)" : "";
  return `${attribute} ${op} ${what}${more}`;
};

/** `isInner`: the condition is part of another one, so several parts need brackets. */
const text = (condition: Condition, isInner: boolean): string => {
  if (isEveryone(condition)) return "everyone";
  if ("not" in condition) return `not ${text(condition.not, true)}`;
  if ("segment" in condition) return `segment ${condition.segment.join(",")}`;
  if ("attribute" in condition) return attributeText(condition);
  const [each, word] = "all" in condition ? [condition.all, "and"] : [condition.any, "or"];
  const [only, second] = each;
  if (only !== undefined && second === undefined) return text(only, isInner);
  const joined = each.map((one) => text(one, true)).join(` ${word} `);
  return isInner ? `(${joined})` : joined;
};

export const conditionText = (condition: Condition): string => inOneLine(text(condition, false));

/** Such as `plan in pro → on 25%, off 75%`. */
export const ruleText = ({ when, serve, disabled }: Rule): string =>
  `${conditionText(when)} → ${formatServe(serve)}${disabled === true ? " (disabled)" : ""}`;

/** Such as `+staff: plan in pro → on`, `-beta`, `~pro: …`. Empty if only other parts of rules changed. */
export const ruleChanges = (
  before: readonly Rule[] = [],
  after: readonly Rule[] = [],
): readonly string[] => {
  const texts = (rules: readonly Rule[]) => new Map(rules.map((rule) => [rule.id, ruleText(rule)]));
  const [old, now] = [texts(before), texts(after)];
  const kept = (ids: Iterable<string>, others: ReadonlyMap<string, string>) =>
    [...ids].filter((id) => others.has(id)).join();
  const changed = [...now].flatMap(([id, text]) => {
    if (!old.has(id)) return [`+${id}: ${text}`];
    return old.get(id) === text ? [] : [`~${id}: ${text}`];
  });
  const gone = [...old.keys()].filter((id) => !now.has(id)).map((id) => `-${id}`);
  const isMoved = kept(old.keys(), now) !== kept(now.keys(), old);
  return [...changed, ...gone, ...(isMoved ? [`order ${[...now.keys()].join(", ")}`] : [])];
};
