// Translates conditions to JsonLogic. Halyard's conditions have three values, so each one becomes an expression for true or for false.
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
/** Conditions on a longer text or list are unknown. */
const longestList = 1_000;

/** An expression for "the condition is `wanted`". If the condition is unknown, neither expression is true. */
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
  if (isWrong) findings.leaveOut(`${op} has a string that is too long or not well-formed.`);
  return !isWrong && values.length <= maxValues;
};

const refusesCase = ({ op, ignoreCase }: AttributeCondition, findings: Findings): boolean => {
  if (ignoreCase === true) findings.leaveOut(`${op} ignores case, which flagd doesn't support.`);
  return ignoreCase === true;
};

/** Whether any element of a list passes the test, or a single value does. One engine finds 0 and false inside themselves at any index. */
const isShortList = (value: Logic): Logic =>
  or(same(elementOf(value, longestList), null), same(value, 0), same(value, false));

const amongTexts = (values: readonly Logic[], value: Logic, wanted: boolean): Logic => {
  const found = isOneOf(element, values);
  const isFound = wanted ? ofSome(value, found) : ofAll(value, and(isTextElement, not(found)));
  return and(isFound, or(isText(value), isShortList(value)));
};

/** To the Python engine, an object is a number that is neither below nor above any other number. */
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
    `${op} compares ${name} with ${typeof list[0]}s: in lists, the Python engine treats 1 and 0 as true and false.`,
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
      findings.leaveOut(
        `${op} converts strings to numbers: flagd engines convert more strings than Halyard does.`,
      );
      return false;
    }
    return and(isNumber(value), { [wanted ? operator : opposed]: [value, Number(limit) + 0] });
  };

/** Some engines store the parts of a version in 32 bits. */
const longestPart = 9;

/** The version in canonical form without build metadata, which doesn't affect order. Undefined if some engine can't read it. */
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
      findings.leaveOut(`${op} has a version that some flagd engines can't read.`);
      return false;
    }
    findings.limit(
      `${op} needs canonical versions such as 1.4.0 or 1.4.0-beta.2 in ${JSON.stringify(attribute)}: flagd engines read other strings differently.`,
    );
    return and(isText(value), { sem_ver: [value, wanted ? operator : opposed, text] });
  };

const exists: Compile = ({ value: isThere }, value, wanted) =>
  isThere === wanted ? differ(value, null) : same(value, null);

const impossible =
  (what: string): Compile =>
  ({ op }, _value, _wanted, findings) => {
    findings.leaveOut(`${op} compares ${what}, which flagd doesn't support.`);
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
    findings.leaveOut(`This version does not support the operator ${op}.`);
    return false;
  }
  return compile(condition, variableOf(attribute, findings), wanted, findings);
};

/** An expression for "the context is in the segment", or for the opposite if `wanted` is false. */
export type SegmentLogic = (key: string, wanted: boolean) => Logic;

/** Recursion is safe: the depth of the condition was limited when it was saved. */
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
