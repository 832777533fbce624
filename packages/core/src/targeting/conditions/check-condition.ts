// Validates a condition. Reports every error with its place.
import { isFlagKey } from "../../flags/rules.ts";
import { isObject, type Members, refuseOthers, type ValidationErrors } from "../mistakes.ts";
import { pointerSteps } from "./attribute.ts";
import { isEveryone } from "./condition.ts";
import { type AttributeCondition, operatorNamed, operators } from "./operators.ts";

/** Including the level of the condition on an attribute or a segment. */
const maxDepth = 6;
export const maxConditions = 200;
const maxAttributeLength = 256;
const maxSegments = 20;

const kinds = ["all", "any", "not", "segment", "attribute"] as const;

export const isAttribute = (value: unknown): boolean =>
  typeof value === "string" &&
  value !== "" &&
  value.length <= maxAttributeLength &&
  (!value.startsWith("/") || pointerSteps(value) !== undefined);

export const attributeRule = `a name of 1 to ${maxAttributeLength} characters, or a JSON Pointer if it begins with a slash`;

/** The number of conditions that may still follow, shared by all conditions of one definition. */
export interface Budget {
  conditions: number;
}

export interface ConditionRules {
  readonly errors: ValidationErrors;
  readonly budget: Budget;
  /** False within a segment, because segments can't reference others. */
  readonly mayNameSegments: boolean;
}

const checkAttribute = (condition: Members, place: string, errors: ValidationErrors): void => {
  if (!isAttribute(condition.attribute)) {
    errors.add(`${place}.attribute`, `must be ${attributeRule}`);
  }
  const operator = operatorNamed(condition.op);
  if (operator === undefined) {
    errors.add(`${place}.op`, `must be one of ${Object.keys(operators).join(", ")}`);
    return;
  }
  const own = operator.members.map((name) => name.replace("?", ""));
  refuseOthers(condition, ["attribute", "op", ...own], place, errors);
  if (condition.ignoreCase !== undefined && typeof condition.ignoreCase !== "boolean") {
    errors.add(`${place}.ignoreCase`, "must be true or false");
  }
  if (condition.as !== undefined && condition.as !== "number") {
    errors.add(`${place}.as`, 'must be "number"');
  }
  const refusal = operator.refuse(condition as unknown as AttributeCondition);
  if (refusal !== undefined) errors.add(`${place}.${own[0]}`, refusal);
};

const checkSegments = (
  condition: Members,
  place: string,
  { errors, mayNameSegments }: ConditionRules,
): void => {
  refuseOthers(condition, ["segment"], place, errors);
  if (!mayNameSegments) {
    errors.add(place, "must not reference a segment: segments can't contain others");
    return;
  }
  const { segment } = condition;
  const isList =
    Array.isArray(segment) &&
    segment.length >= 1 &&
    segment.length <= maxSegments &&
    segment.every(isFlagKey);
  if (!isList) {
    errors.add(`${place}.segment`, `must be a list of 1 to ${maxSegments} segment keys`);
  }
};

export const checkCondition = (
  condition: unknown,
  place: string,
  rules: ConditionRules,
  depth = 1,
): void => {
  const { errors, budget } = rules;
  if (errors.isFull()) return;
  const given = isObject(condition) ? kinds.filter((kind) => Object.hasOwn(condition, kind)) : [];
  const [kind] = given;
  if (!isObject(condition) || kind === undefined || given.length > 1) {
    errors.add(place, `must be a condition: an object with one of ${kinds.join(", ")}`);
    return;
  }
  budget.conditions -= 1;
  if (budget.conditions === -1) {
    errors.add(place, `is one condition too many: the limit is ${maxConditions}`);
  }
  if (budget.conditions < 0) return;
  if (kind === "attribute") checkAttribute(condition, place, errors);
  else if (kind === "segment") checkSegments(condition, place, rules);
  else checkGroup(kind, condition, place, rules, depth);
};

const checkGroup = (
  kind: "all" | "any" | "not",
  condition: Members,
  place: string,
  rules: ConditionRules,
  depth: number,
): void => {
  const { errors, budget } = rules;
  refuseOthers(condition, [kind], place, errors);
  if (isEveryone(condition)) return;
  if (depth >= maxDepth) {
    errors.add(`${place}.${kind}`, `is too deep: the limit is ${maxDepth} levels`);
    return;
  }
  const inner = condition[kind];
  if (kind === "not") {
    checkCondition(inner, `${place}.not`, rules, depth + 1);
    return;
  }
  if (!Array.isArray(inner) || inner.length === 0) {
    const least = kind === "any" ? "a list of at least one condition" : "a list of conditions";
    errors.add(`${place}.${kind}`, `must be ${least}`);
    return;
  }
  for (const [index, each] of inner.entries()) {
    if (errors.isFull() || budget.conditions < 0) return;
    checkCondition(each, `${place}.${kind}[${index}]`, rules, depth + 1);
  }
};
