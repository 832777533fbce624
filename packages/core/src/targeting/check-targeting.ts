// Validates the targeting of a flag. Reports every error with its place.
import { descriptionRule, flagKeyRule, isDescription, isFlagKey } from "../flags/rules.ts";
import {
  attributeRule,
  checkCondition,
  isAttribute,
  maxConditions,
} from "./conditions/check-condition.ts";
import { isObject, type Members, refuseOthers, type ValidationErrors } from "./mistakes.ts";
import { maxRules } from "./rule-ids.ts";
import { checkSplit } from "./split.ts";
import type { Rule } from "./targeting.ts";
import { maxWork, tooMuchWork, workOfRules } from "./work.ts";

const maxRequirements = 10;
const maxSeedLength = 128;
const maxTags = 20;
const maxTagLength = 64;
const maxOwnerLength = 128;

export interface TargetingRules {
  readonly errors: ValidationErrors;
  /** The key of this flag. */
  readonly key: string;
  readonly isVariant: (name: unknown) => boolean;
}

/** A variant, or a split. `wanted` is the required sum of the shares. */
export const checkServe = (
  serve: unknown,
  place: string,
  { errors, isVariant }: Pick<TargetingRules, "errors" | "isVariant">,
  wanted?: number,
): void => {
  if (Array.isArray(serve)) checkSplit(serve, place, isVariant, errors, wanted);
  else if (!isVariant(serve)) {
    errors.add(place, "must be a variant of the flag, or a list of shares");
  }
};

const ruleMembers = ["id", "description", "disabled", "when", "serve"] as const;

const checkRules = (rules: unknown, targeting: TargetingRules): void => {
  const { errors } = targeting;
  if (!Array.isArray(rules) || rules.length > maxRules) {
    errors.add("rules", `must be a list of at most ${maxRules} rules`);
    return;
  }
  const budget = { conditions: maxConditions };
  const ids = new Set<unknown>();
  for (const [index, rule] of (rules as unknown[]).entries()) {
    if (errors.isFull()) return;
    const place = `rules[${index}]`;
    if (!isObject(rule)) {
      errors.add(place, "must be an object with when and serve");
      continue;
    }
    refuseOthers(rule, ruleMembers, place, errors);
    checkRuleNames(rule, place, ids, errors);
    checkCondition(rule.when, `${place}.when`, { errors, budget, mayNameSegments: true });
    checkServe(rule.serve, `${place}.serve`, targeting);
  }
  const work = workOfRules(rules as readonly Rule[]);
  if (work > maxWork) errors.add("rules", tooMuchWork(work));
};

const checkRuleNames = (
  rule: Members,
  place: string,
  ids: Set<unknown>,
  errors: ValidationErrors,
): void => {
  const { id, description, disabled } = rule;
  if (id !== undefined && !isFlagKey(id)) errors.add(`${place}.id`, `must be ${flagKeyRule}`);
  else if (id !== undefined && ids.has(id)) {
    errors.add(`${place}.id`, "must be unique in the flag");
  }
  ids.add(id);
  if (description !== undefined && (description === null || !isDescription(description))) {
    errors.add(`${place}.description`, `must be ${descriptionRule.replace(", or null", "")}`);
  }
  if (disabled !== undefined && typeof disabled !== "boolean") {
    errors.add(`${place}.disabled`, "must be true or false");
  }
};

const checkRequires = (requires: unknown, { errors, key }: TargetingRules): void => {
  if (!Array.isArray(requires) || requires.length > maxRequirements) {
    errors.add("requires", `must be a list of at most ${maxRequirements} prerequisites`);
    return;
  }
  const seen = new Set<unknown>();
  for (const [index, each] of (requires as unknown[]).entries()) {
    if (errors.isFull()) return;
    const place = `requires[${index}]`;
    if (!isObject(each)) {
      errors.add(place, "must be an object with flag and variant");
      continue;
    }
    refuseOthers(each, ["flag", "variant"], place, errors);
    const { flag, variant } = each;
    if (!isFlagKey(flag)) errors.add(`${place}.flag`, `must be the key of a flag: ${flagKeyRule}`);
    else if (flag === key) errors.add(`${place}.flag`, "must be another flag");
    else if (seen.has(flag)) errors.add(`${place}.flag`, "must appear only once");
    if (!isFlagKey(variant)) errors.add(`${place}.variant`, "must be the name of a variant");
    seen.add(flag);
  }
};

const isTextOf = (value: unknown, longest: number): value is string =>
  typeof value === "string" && value !== "" && Array.from(value).length <= longest;

const checkTags = (tags: unknown, errors: ValidationErrors): void => {
  const isList =
    Array.isArray(tags) &&
    tags.length <= maxTags &&
    tags.every((tag) => isTextOf(tag, maxTagLength)) &&
    new Set(tags).size === tags.length;
  if (!isList) {
    errors.add(
      "tags",
      `must be a list of at most ${maxTags} different strings of 1 to ${maxTagLength} characters`,
    );
  }
};

/** Checks the present fields by themselves. The flag type checks them in relation to each other. */
export const checkTargeting = (flag: Members, targeting: TargetingRules): void => {
  const { errors } = targeting;
  const { requires, rules, bucketBy, bucketSeed, tags, owner } = flag;
  if (requires !== undefined) checkRequires(requires, targeting);
  if (rules !== undefined) checkRules(rules, targeting);
  if (bucketBy !== undefined && !isAttribute(bucketBy)) {
    errors.add("bucketBy", `must be ${attributeRule}`);
  }
  if (bucketSeed !== undefined && !isTextOf(bucketSeed, maxSeedLength)) {
    errors.add("bucketSeed", `must be a string of 1 to ${maxSeedLength} characters`);
  }
  if (tags !== undefined) checkTags(tags, errors);
  if (owner !== undefined && !isTextOf(owner, maxOwnerLength)) {
    errors.add("owner", `must be a string of 1 to ${maxOwnerLength} characters`);
  }
};
