// Conditions in JsonLogic. Of three values only true matches, so each is asked for by itself: whether it is true, or whether it is false.
import type { Condition } from "../targeting/conditions/condition.ts";
import type { AttributeCondition, Scalar } from "../targeting/conditions/operators.ts";
import { parseVersion } from "../targeting/conditions/semver.ts";
import { elementOf, variableOf } from "./attribute.ts";
import type { Findings } from "./findings.ts";
import {
  and,
  differ,
  element,
  isNoBoolean,
  isNoNumber,
  isNumber,
  isNumberElement,
  isOneOf,
  isShort,
  isText,
  isTextElement,
  type Logic,
  not,
  ofAll,
  ofSome,
  or,
  same,
} from "./logic.ts";

const maxValues = 100;
/** A longer text or list is unknown. */
const longestList = 1_000;

/** The expression for "the condition is `wanted`". When it is neither true nor false, both expressions do not hold. */
type Compile = (
  condition: AttributeCondition,
  value: Logic,
  wanted: boolean,
  findings: Findings,
) => Logic;

const isUsable = (values: readonly Scalar[], op: string, findings: Findings): boolean => {
  if (values.length > maxValues) {
    findings.leaveOut(`${op} has more than ${maxValues} values.`);
  }
  const isWrong = values.some(
    (value) => typeof value === "string" && (value.length > longestList || !value.isWellFormed()),
  );
  if (isWrong) findings.leaveOut(`${op} has a text that is too long or not well-formed.`);
  return !isWrong && values.length <= maxValues;
};

const refusesCase = ({ op, ignoreCase }: AttributeCondition, findings: Findings): boolean => {
  if (ignoreCase === true) findings.leaveOut(`${op} ignores the case: flagd cannot.`);
  return ignoreCase === true;
};

/** Of a list, or of something else. One engine finds 0 and false in themselves at any place. */
const isShortList = (value: Logic): Logic =>
  or(same(elementOf(value, longestList), null), same(value, 0), same(value, false));

const amongTexts = (values: readonly Logic[], value: Logic, wanted: boolean): Logic => {
  const found = isOneOf(element, values);
  const isFound = wanted ? ofSome(value, found) : ofAll(value, and(isTextElement, not(found)));
  return and(isFound, or(isText(value), isShortList(value)));
};

/** To the engine of Python, an object is a number that is neither below nor above any other. */
const hasOrder = (value: Logic): Logic => or({ "<": [value, 0] }, { ">=": [value, 0] });

const amongNumbers = (values: readonly Logic[], value: Logic, wanted: boolean): Logic => {
  const found = isOneOf(element, values);
  if (!wanted) {
    return or(
      and(isNumber(value), hasOrder(value), not({ in: [value, values] })),
      and(ofAll(value, and(isNumberElement, not(found))), isShortList(value)),
    );
  }
  const mayBeBoolean = values.includes(0) || values.includes(1);
  return and(ofSome(value, found), isShortList(value), !mayBeBoolean || isNoBoolean(value));
};

const amongBooleans = (values: readonly Logic[], value: Logic, wanted: boolean): Logic => {
  const others = [true, false].filter((each) => !values.includes(each));
  const isFound = wanted
    ? ofSome(value, isOneOf(element, values))
    : ofAll(value, isOneOf(element, others));
  return and(isFound, isNoNumber(value), isShortList(value));
};

const among: Compile = (condition, value, wanted, findings) => {
  const { op, values = [], attribute } = condition;
  if (refusesCase(condition, findings) || !isUsable(values, op, findings)) return false;
  const list = [...new Set(values.map((each) => (typeof each === "number" ? each + 0 : each)))];
  if (typeof list[0] === "string") return amongTexts(list, value, wanted);
  const name = JSON.stringify(attribute);
  findings.limit(
    `${op} compares ${name} with ${typeof list[0]}s: in lists, the engine of Python takes 1 and 0 for true and false.`,
  );
  return typeof list[0] === "number"
    ? amongNumbers(list, value, wanted)
    : amongBooleans(list, value, wanted);
};

const ofTexts =
  (holds: (value: Logic, part: Logic) => Logic): Compile =>
  (condition, value, wanted, findings) => {
    const { op, values = [] } = condition;
    if (refusesCase(condition, findings) || !isUsable(values, op, findings)) return false;
    const found = or(...values.map((part) => holds(value, part)));
    return and(isText(value), isShort(value), wanted ? found : not(found));
  };

const ofNumbers =
  (operator: string, opposed: string): Compile =>
  ({ op, value: limit, as }, value, wanted, findings) => {
    if (as === "number") {
      findings.leaveOut(`${op} reads texts as numbers: flagd engines read more texts as such.`);
      return false;
    }
    return and(isNumber(value), { [wanted ? operator : opposed]: [value, Number(limit) + 0] });
  };

/** Some engines keep the parts of a version in 32 bits. */
const longestPart = 9;

/** Canonical and without its build part, which does not count; undefined when not every engine reads it. */
const versionText = (limit: string): string | undefined => {
  const version = parseVersion(limit);
  if (version === undefined) return undefined;
  const { numbers, prerelease } = version;
  const isLong = (part: string) => /^\d+$/.test(part) && part.length > longestPart;
  if ([...numbers, ...prerelease].some(isLong)) return undefined;
  return prerelease.length === 0
    ? numbers.join(".")
    : `${numbers.join(".")}-${prerelease.join(".")}`;
};

const ofVersions =
  (operator: string, opposed: string): Compile =>
  ({ op, value: limit, attribute }, value, wanted, findings) => {
    const text = versionText(String(limit));
    if (text === undefined) {
      findings.leaveOut(`${op} has a version that not every flagd engine reads.`);
      return false;
    }
    findings.limit(
      `${op} needs canonical versions such as 1.4.0 or 1.4.0-beta.2 in ${JSON.stringify(attribute)}: flagd engines read other texts in different ways.`,
    );
    return and(isText(value), { sem_ver: [value, wanted ? operator : opposed, text] });
  };

const exists: Compile = ({ value: isThere }, value, wanted) =>
  isThere === wanted ? differ(value, null) : same(value, null);

const impossible =
  (what: string): Compile =>
  ({ op }, _value, _wanted, findings) => {
    findings.leaveOut(`${op} compares ${what}: flagd cannot.`);
    return false;
  };

const operators: Readonly<Record<string, Compile>> = {
  exists,
  in: among,
  notIn: (condition, value, wanted, findings) => among(condition, value, !wanted, findings),
  startsWith: ofTexts((value, part) => ({ starts_with: [value, part] })),
  endsWith: ofTexts((value, part) => ({ ends_with: [value, part] })),
  contains: ofTexts((value, part) => ({ in: [part, value] })),
  lt: ofNumbers("<", ">="),
  lte: ofNumbers("<=", ">"),
  gt: ofNumbers(">", "<="),
  gte: ofNumbers(">=", "<"),
  semverEq: ofVersions("=", "!="),
  semverLt: ofVersions("<", ">="),
  semverLte: ofVersions("<=", ">"),
  semverGt: ofVersions(">", "<="),
  semverGte: ofVersions(">=", "<"),
  before: impossible("moments"),
  after: impossible("moments"),
  inCidr: impossible("networks"),
};

const ofAttribute = (condition: AttributeCondition, wanted: boolean, findings: Findings): Logic => {
  const { op, attribute } = condition;
  const compile = Object.hasOwn(operators, op) ? operators[op] : undefined;
  if (compile === undefined) {
    findings.leaveOut(`This version does not know the operator ${op}.`);
    return false;
  }
  return compile(condition, variableOf(attribute, findings), wanted, findings);
};

/** Whether the context is in the segment, or is not: `wanted`. */
export type SegmentLogic = (key: string, wanted: boolean) => Logic;

/** Of a condition that was checked when it was saved, so it is not deep. */
export const compileCondition = (
  condition: Condition,
  wanted: boolean,
  segment: SegmentLogic,
  findings: Findings,
): Logic => {
  const compile = (each: Condition) => compileCondition(each, wanted, segment, findings);
  if ("not" in condition) return compileCondition(condition.not, !wanted, segment, findings);
  if ("all" in condition) return (wanted ? and : or)(...condition.all.map(compile));
  if ("any" in condition) return (wanted ? or : and)(...condition.any.map(compile));
  if ("segment" in condition) {
    return (wanted ? or : and)(...condition.segment.map((key) => segment(key, wanted)));
  }
  return ofAttribute(condition, wanted, findings);
};
