// Conditions in JsonLogic, for flagd and GO Feature Flag. A missing attribute is null, which counts as zero in numeric comparisons.
import type { Scalar } from "@halyard/core/targeting/conditions/operators";
import { numberFrom } from "@halyard/core/targeting/conditions/texts";
import { isFields, listOf } from "../../loose-values.ts";
import {
  aNumber,
  aVersion,
  type Expression,
  isScalar,
  notAList,
  type Operator,
  type Operators,
  operatorsFor,
  translate,
  unknownOperator,
} from "../translate/conditions.ts";
import {
  equals,
  isSet,
  numberTest,
  oppositeWhenSet,
  pathTo,
  textTest,
  truthy,
  typesOf,
  type VersionOrder,
  versionTest,
} from "../translate/leaves.ts";
import {
  always,
  attempt,
  CannotTranslate,
  every,
  exactIf,
  never,
  opposite,
  some,
  type Test,
} from "../translate/logic.ts";

/** The operator of a JsonLogic expression and its operands. */
export const operationOf = (value: unknown): readonly [string, readonly unknown[]] | undefined => {
  if (!isFields(value)) return undefined;
  const [name, ...others] = Object.keys(value);
  if (name === undefined || others.length > 0) return undefined;
  const given = value[name];
  return [name, Array.isArray(given) ? given : [given]];
};

/** The attribute of a `var`; undefined for other expressions. */
export const variableOf = (value: unknown): string | undefined => {
  const operation = operationOf(value);
  if (operation?.[0] !== "var") return undefined;
  const [name, fallback = null] = operation[1];
  if (typeof name !== "string" || name === "") throw new CannotTranslate("uses the whole context");
  if (fallback !== null) throw new CannotTranslate(`has a default for ${name}`);
  if (name === "$flagd.timestamp")
    throw new CannotTranslate("depends on the time ($flagd.timestamp)");
  return pathTo(name.split("."));
};

/** A number and its string form are equal. */
const likenessesOf = (value: Scalar): readonly Scalar[] => {
  if (typeof value === "number") return [value, String(value)];
  const number = typeof value === "string" ? numberFrom(value) : undefined;
  return number === undefined ? [value] : [value, number];
};

const readEqual =
  (isStrict: boolean): Operator<unknown> =>
  (attribute, value) => {
    if (value === null || value === undefined) {
      const isMissing = opposite(isSet(attribute));
      return isStrict ? isMissing : exactIf(isMissing, attribute, "a string");
    }
    if (!isScalar(value)) throw new CannotTranslate("compares with a list");
    const type = typesOf([value]);
    if (isStrict) {
      return exactIf(equals(attribute, [value]), attribute, { yes: notAList, no: type });
    }
    // Other types are converted, and some engines treat null as zero and as false.
    const test = exactIf(equals(attribute, likenessesOf(value)), attribute, type);
    const isZero = value === 0 || value === false || value === "0";
    return isZero ? exactIf(test, attribute, "present") : test;
  };

const versionOrders: Readonly<Record<string, VersionOrder>> = {
  "=": "Eq",
  "<": "Lt",
  "<=": "Lte",
  ">": "Gt",
  ">=": "Gte",
};

const readVersion = (attribute: string, operator: unknown, version: string): Test => {
  const order = versionOrders[String(operator)];
  if (order !== undefined) return versionTest(attribute, order, version);
  const equal = versionTest(attribute, "Eq", version);
  if (operator === "!=") return oppositeWhenSet(attribute, equal);
  const [major = 0, minor = 0] = version
    .replace(/^v/i, "")
    .split(".")
    .map((part) => Number.parseInt(part, 10));
  const between = (from: string, to: string) =>
    // The lowest pre-release is the start of a version.
    every([versionTest(attribute, "Gte", `${from}-0`), versionTest(attribute, "Lt", `${to}-0`)]);
  if (operator === "^") return between(`${major}.0.0`, `${major + 1}.0.0`);
  if (operator === "~") return between(`${major}.${minor}.0`, `${major}.${minor + 1}.0`);
  throw new CannotTranslate(`compares versions with ${String(operator)}`);
};

const notComparable = (name: string): CannotTranslate =>
  new CannotTranslate(`compares something other than an attribute and a value (${name})`);

const operators: Operators<unknown> = {
  "==": readEqual(false),
  "===": readEqual(true),
  ...operatorsFor(
    { "<": "lt", "<=": "lte", ">": "gt", ">=": "gte" },
    (order) => (attribute, value) => {
      const number = typeof value === "string" ? numberFrom(value) : value;
      if (typeof number !== "number") throw new CannotTranslate("compares the order of strings");
      const test = numberTest(attribute, order, number, { fromText: true, missingIsZero: true });
      // Two strings are compared as strings.
      return exactIf(test, attribute, typeof value === "string" ? "a number" : aNumber);
    },
  ),
  in(attribute, list) {
    if (!Array.isArray(list)) throw notComparable("in");
    const scalars = list.filter(isScalar);
    if (scalars.length < list.length) throw new CannotTranslate("compares with a list of lists");
    return exactIf(equals(attribute, scalars), attribute, { yes: notAList, no: typesOf(scalars) });
  },
  ...operatorsFor(
    { starts_with: "startsWith", ends_with: "endsWith" },
    (op, name) => (attribute, text) => {
      if (typeof text !== "string") throw notComparable(name);
      return exactIf(textTest(attribute, op, [text]), attribute, { no: "a string" });
    },
  ),
  sem_ver(attribute, given) {
    const [operator, version] = listOf(given);
    if (typeof version !== "string") throw notComparable("sem_ver");
    return exactIf(readVersion(attribute, operator, version), attribute, aVersion);
  },
};

/** Matches part of a string, or an element of a list. */
const isIn = (part: unknown, attribute: string): Test => {
  if (typeof part !== "string") throw notComparable("in");
  const both = some([textTest(attribute, "contains", [part]), equals(attribute, [part])]);
  return {
    ...exactIf(both, attribute, { yes: "a string or a list of strings" }),
    no() {
      throw new CannotTranslate(
        `tests that ${attribute}, a string or a list, does not contain "${part}"`,
      );
    },
  };
};

/** The operator for the same comparison with exchanged operands. */
const exchanged: Readonly<Record<string, string>> = {
  ...{ "==": "==", "===": "===" },
  ...{ "<": ">", "<=": ">=", ">": "<", ">=": "<=" },
};

const comparisonOf = (name: string, [left, right]: readonly unknown[]): Expression<unknown> => {
  if (!Object.hasOwn(operators, name)) throw unknownOperator(name);
  const attribute = variableOf(left);
  if (attribute !== undefined && !isFields(right)) {
    return { attribute, operator: name, value: right };
  }
  const other = variableOf(right);
  if (other === undefined || isFields(left)) throw notComparable(name);
  if (name === "in") return isIn(left, other);
  const operator = exchanged[name];
  if (operator === undefined) throw notComparable(name);
  return { attribute: other, operator, value: left };
};

const parse = (value: unknown): Expression<unknown> => {
  if (typeof value === "boolean") return value ? always : never;
  const attribute = variableOf(value);
  if (attribute !== undefined) {
    return exactIf(truthy(attribute), attribute, "a string, a number or true or false");
  }
  const [name, given = []] = operationOf(value) ?? [];
  switch (name) {
    case undefined:
      throw new CannotTranslate("has a value in place of a condition");
    case "and":
      return { all: given.map(parse) };
    case "or":
      return { any: given.map(parse) };
    case "!":
      return { not: parse(given[0]) };
    case "!!":
      return parse(given[0]);
    case "!=":
    case "!==":
      return { not: parse({ [name.replace("!", "=")]: given }) };
    case "missing":
      return {
        any: given
          .flat()
          .map((each) => pathTo(String(each).split(".")))
          .map((missing) => exactIf(opposite(isSet(missing)), missing, "never null")),
      };
    case "sem_ver":
      return comparisonOf(name, [given[0], given.slice(1)]);
    case "<":
    case "<=":
    case ">":
    case ">=":
      if (given.length !== 3) return comparisonOf(name, given);
      // A range: the middle operand lies between the other two.
      return { all: [given.slice(0, 2), given.slice(1)].map((pair) => comparisonOf(name, pair)) };
    default:
      return comparisonOf(name, given);
  }
};

/** Whether JsonLogic treats the expression as true. */
export const readLogic = (value: unknown): Test =>
  attempt(() => translate(parse(value), operators));

const comparisons = new Set(["==", "===", "!=", "!==", "<", "<=", ">", ">=", "!", "!!", "in"]);

/** Whether the result is a boolean, and not merely truthy or falsy. */
export const isTrueOrFalse = (value: unknown): boolean => {
  if (typeof value === "boolean") return true;
  const [name = "", given = []] = operationOf(value) ?? [];
  if (name === "and" || name === "or") return given.length > 0 && given.every(isTrueOrFalse);
  return comparisons.has(name);
};
