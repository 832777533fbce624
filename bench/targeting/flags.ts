// Flags with rules in the form in which they are sent and stored.
import type { Flag } from "../../packages/core/src/flags/registry.ts";
import type { Condition } from "../../packages/core/src/targeting/conditions/condition.ts";
import { ruleSet } from "./rule-set.ts";

/** So many rules of three conditions each. */
export const rulesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `rule-${index + 1}`,
    when: { all: ruleSet[index % ruleSet.length] ?? [] },
    serve: "on",
  }));

export const keyOf = (index: number): string => `flag-${String(index).padStart(5, "0")}`;

const base = { enabled: true, description: null };

export const plainFlag = (index: number): Flag => ({
  ...base,
  key: keyOf(index),
  type: "boolean",
});

export const ruledFlag = (index: number, rules: number): Flag => ({
  ...plainFlag(index),
  type: "boolean",
  rules: rulesOf(rules),
  otherwise: "off",
});

export const segmentFlag = (index: number, ...segments: string[]): Flag => {
  const when: Condition = { segment: segments };
  const rules = [{ id: "segment", when, serve: "on" }];
  return { ...plainFlag(index), type: "boolean", rules, otherwise: "off" };
};
