// Counts the work of rules and segments for the largest context, in steps of about ten nanoseconds. The server rejects rules
// that would take too much. Evaluation uses the same numbers to decide when to yield.
import type { Condition } from "./conditions/condition.ts";
import { isObject } from "./mistakes.ts";
import type { Rule } from "./targeting.ts";

/** The limit for the rules of a flag, or for a segment. */
export const maxWork = 250_000;
/** The limit for all flags and segments of an environment together. */
export const maxEnvironmentWork = 2_000_000;

interface Cost {
  /** Steps of the condition, and of each of its values. */
  readonly condition: number;
  readonly value?: number;
  /** Steps of each character of a value. */
  readonly character?: number;
}

const ordered: Cost = { condition: 20 };
const version: Cost = { condition: 100, character: 5 };
const moment: Cost = { condition: 100 };
const prefix: Cost = { condition: 20, value: 5, character: 0.6 };
const among: Cost = { condition: 20, value: 2, character: 0.1 };

/** For a string of 1,024 characters, and a list of 1,000 elements, that were folded and parsed before. */
const costs: Readonly<Record<string, Cost>> = {
  exists: { condition: 5 },
  in: among,
  notIn: among,
  startsWith: prefix,
  endsWith: prefix,
  contains: { condition: 20, value: 1_200, character: 30 },
  lt: ordered,
  lte: ordered,
  gt: ordered,
  gte: ordered,
  semverEq: version,
  semverLt: version,
  semverLte: version,
  semverGt: version,
  semverGte: version,
  before: moment,
  after: moment,
  inCidr: { condition: 100, value: 10 },
};

const ofGroup = 5;
const ofSegment = 20;
/** Steps of each part of a JSON Pointer. */
const ofPointerStep = 10;

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

const workOfAttribute = (condition: Readonly<Record<string, unknown>>): number => {
  const { attribute, op, value, values } = condition;
  const cost = Object.hasOwn(costs, String(op)) ? costs[String(op)] : undefined;
  if (typeof attribute !== "string" || cost === undefined) return 0;
  const path = attribute.startsWith("/") ? ofPointerStep * attribute.split("/").length : ofGroup;
  let work = cost.condition + path;
  for (const each of isList(values) ? values : [value]) {
    const length = typeof each === "string" ? each.length : 0;
    work += (cost.value ?? 0) + (cost.character ?? 0) * length;
  }
  return work;
};

/** Steps of any condition. A condition that this version doesn't know has none. */
export const workOfCondition = (condition: unknown): number => {
  if (!isObject(condition)) return 0;
  const ofEach = (list: unknown): number =>
    isList(list) ? list.reduce<number>((sum, each) => sum + workOfCondition(each), ofGroup) : 0;
  if ("all" in condition) return ofEach(condition.all);
  if ("any" in condition) return ofEach(condition.any);
  if ("not" in condition) return ofGroup + workOfCondition(condition.not);
  const { segment } = condition;
  return isList(segment) ? ofSegment * segment.length : workOfAttribute(condition);
};

/** Steps of all rules of a flag, including disabled rules, rounded up. */
export const workOfRules = (rules: readonly Rule[] | undefined): number =>
  isList(rules) ? Math.ceil(rules.reduce((sum, rule) => sum + workOfCondition(rule?.when), 0)) : 0;

/** Steps of a segment's condition; a segment can have none. */
export const workOfSegment = (when: Condition | null | undefined): number =>
  Math.ceil(workOfCondition(when));

export const tooMuchWork = (work: number): string =>
  `must take at most ${maxWork.toLocaleString("en")} steps to evaluate, not ${work.toLocaleString("en")}: use fewer values, especially with contains`;
