// Conditions in JsonLogic. Of three values only true matches, so a condition becomes two expressions: when it is true, and when it is false.
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

/** When neither holds it is unknown. */
export interface Both {
  readonly whenTrue: Logic;
  readonly whenFalse: Logic;
}

export const unknown: Both = { whenTrue: false, whenFalse: false };

export const allOf = (parts: readonly Both[]): Both => ({
  whenTrue: and(...parts.map(({ whenTrue }) => whenTrue)),
  whenFalse: or(...parts.map(({ whenFalse }) => whenFalse)),
});

export const opposite = ({ whenTrue, whenFalse }: Both): Both => ({
  whenTrue: whenFalse,
  whenFalse: whenTrue,
});

export const anyOf = (parts: readonly Both[]): Both => opposite(allOf(parts.map(opposite)));

const maxValues = 100;
/** Beyond it a text, or a list, is unknown; the definition asks for a list's element at that place. */
const longestList = 1_000;

type Compile = (condition: AttributeCondition, value: Logic, findings: Findings) => Both;

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

const amongTexts = (values: readonly Logic[], value: Logic): Both => {
  const isShortList = same(elementOf(value, longestList), null);
  const found = isOneOf(element, values);
  return {
    whenTrue: and(ofSome(value, found), or(isText(value), isShortList)),
    whenFalse: and(
      ofAll(value, and(isTextElement, not(found))),
      or(and(isText(value), isShort(value)), isShortList),
    ),
  };
};

const amongNumbers = (values: readonly Logic[], value: Logic): Both => {
  const isShortList = same(elementOf(value, longestList), null);
  const found = isOneOf(element, values);
  const mayBeBoolean = values.includes(0) || values.includes(1);
  return {
    whenTrue: and(ofSome(value, found), isShortList, !mayBeBoolean || isNoBoolean(value)),
    whenFalse: or(
      and(isNumber(value), not({ in: [value, values] })),
      and(ofAll(value, and(isNumberElement, not(found))), isShortList),
    ),
  };
};

const amongBooleans = (values: readonly Logic[], value: Logic): Both => {
  const isShortList = same(elementOf(value, longestList), null);
  const others = [true, false].filter((each) => !values.includes(each));
  return {
    whenTrue: and(ofSome(value, isOneOf(element, values)), isNoNumber(value), isShortList),
    whenFalse: and(ofAll(value, isOneOf(element, others)), isNoNumber(value), isShortList),
  };
};

const among: Compile = (condition, value, findings) => {
  const { op, values = [], attribute } = condition;
  if (refusesCase(condition, findings) || !isUsable(values, op, findings)) return unknown;
  const list = [...new Set(values.map((each) => (typeof each === "number" ? each + 0 : each)))];
  if (typeof list[0] === "string") return amongTexts(list, value);
  findings.limit(
    `${op} compares ${JSON.stringify(attribute)} with ${typeof list[0]}s: in lists, the engine of Python takes 1 and 0 for true and false.`,
  );
  return typeof list[0] === "number" ? amongNumbers(list, value) : amongBooleans(list, value);
};

const ofTexts =
  (holds: (value: Logic, part: Logic) => Logic): Compile =>
  (condition, value, findings) => {
    const { op, values = [] } = condition;
    if (refusesCase(condition, findings) || !isUsable(values, op, findings)) return unknown;
    const found = or(...values.map((part) => holds(value, part)));
    return {
      whenTrue: and(isText(value), isShort(value), found),
      whenFalse: and(isText(value), isShort(value), not(found)),
    };
  };

const ofNumbers =
  (operator: string, opposed: string): Compile =>
  ({ op, value: limit, as }, value, findings) => {
    if (as === "number") {
      findings.leaveOut(`${op} reads texts as numbers: flagd engines read more texts as such.`);
      return unknown;
    }
    const bound = Number(limit) + 0;
    return {
      whenTrue: and(isNumber(value), { [operator]: [value, bound] }),
      whenFalse: and(isNumber(value), { [opposed]: [value, bound] }),
    };
  };

/** Some engines keep the parts of a version in 32 bits. */
const longestPart = 9;

const ofVersions =
  (operator: string, opposed: string): Compile =>
  ({ op, value: limit, attribute }, value, findings) => {
    const version = parseVersion(String(limit));
    const parts = version === undefined ? [] : [...version.numbers, ...version.prerelease];
    if (
      version === undefined ||
      parts.some((part) => /^\d+$/.test(part) && part.length > longestPart)
    ) {
      findings.leaveOut(`${op} has a version that not every flagd engine reads.`);
      return unknown;
    }
    findings.limit(
      `${op} needs canonical versions such as 1.4.0 or 1.4.0-beta.2 in ${JSON.stringify(attribute)}: flagd engines read other texts in different ways.`,
    );
    const { numbers, prerelease } = version;
    const text = [numbers.join("."), ...(prerelease.length > 0 ? [prerelease.join(".")] : [])].join(
      "-",
    );
    return {
      whenTrue: and(isText(value), { sem_ver: [value, operator, text] }),
      whenFalse: and(isText(value), { sem_ver: [value, opposed, text] }),
    };
  };

const exists: Compile = ({ value: wanted }, value) => {
  const isThere: Both = { whenTrue: differ(value, null), whenFalse: same(value, null) };
  return wanted === true ? isThere : opposite(isThere);
};

const impossible =
  (what: string): Compile =>
  ({ op }, _value, findings) => {
    findings.leaveOut(`${op} compares ${what}: flagd cannot.`);
    return unknown;
  };

const operators: Readonly<Record<string, Compile>> = {
  exists,
  in: among,
  notIn: (...args) => opposite(among(...args)),
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

const ofAttribute = (condition: AttributeCondition, findings: Findings): Both => {
  const { op, attribute } = condition;
  const compile = Object.hasOwn(operators, op) ? operators[op] : undefined;
  if (compile === undefined) {
    findings.leaveOut(`This version does not know the operator ${op}.`);
    return unknown;
  }
  // Both are looked at, so that the findings are complete.
  const value = variableOf(attribute, findings);
  const both = compile(condition, value ?? { var: "-" }, findings);
  return value === undefined ? unknown : both;
};

/** Of a condition that was checked when it was saved, so it is not deep. */
export const compileCondition = (
  condition: Condition,
  segment: (key: string) => Both,
  findings: Findings,
): Both => {
  const compile = (each: Condition) => compileCondition(each, segment, findings);
  if ("all" in condition) return allOf(condition.all.map(compile));
  if ("any" in condition) return anyOf(condition.any.map(compile));
  if ("not" in condition) return opposite(compile(condition.not));
  if ("segment" in condition) return anyOf(condition.segment.map(segment));
  return ofAttribute(condition, findings);
};
