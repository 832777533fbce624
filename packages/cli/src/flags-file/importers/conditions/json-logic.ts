// Conditions in JsonLogic, as flagd and GO Feature Flag read them. A missing attribute is null, and null is zero among numbers.
import type { Scalar } from "@halyard/core/targeting/conditions/operators";
import { numberFrom } from "@halyard/core/targeting/conditions/texts";
import { isFields, listOf } from "../../loose-values.ts";
import {
  equals,
  isSet,
  numberTest,
  type Order,
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

/** The one operator of a JsonLogic expression and what it is given. */
export const operationOf = (value: unknown): readonly [string, readonly unknown[]] | undefined => {
  if (!isFields(value)) return undefined;
  const [name, ...others] = Object.keys(value);
  if (name === undefined || others.length > 0) return undefined;
  const given = value[name];
  return [name, Array.isArray(given) ? given : [given]];
};

/** The attribute of `var`; undefined when the value is something else. */
export const variableOf = (value: unknown): string | undefined => {
  const operation = operationOf(value);
  if (operation?.[0] !== "var") return undefined;
  const [name, fallback = null] = operation[1];
  if (typeof name !== "string" || name === "")
    throw new CannotTranslate("asks for the whole context");
  if (fallback !== null) throw new CannotTranslate(`has a default for ${name}`);
  if (name === "$flagd.timestamp")
    throw new CannotTranslate("depends on the time ($flagd.timestamp)");
  return pathTo(name.split("."));
};

const aScalar = "a string, a number or true or false";

const isScalar = (value: unknown): value is Scalar =>
  ["string", "number", "boolean"].includes(typeof value);

/** The attribute, the value it is compared with, and whether they stood the other way round. */
const sidesOf = (given: readonly unknown[], name: string): [string, unknown, boolean] => {
  const [first, second] = given;
  const left = variableOf(first);
  if (left !== undefined && !isFields(second)) return [left, second, false];
  const right = variableOf(second);
  if (right !== undefined && !isFields(first)) return [right, first, true];
  throw new CannotTranslate(`compares something other than an attribute and a value (${name})`);
};

/** Texts that are numbers equal those. */
const likenessesOf = (value: Scalar): readonly Scalar[] => {
  if (typeof value === "number") return [value, String(value)];
  const number = typeof value === "string" ? numberFrom(value) : undefined;
  return number === undefined ? [value] : [value, number];
};

const readEqual = (given: readonly unknown[], name: string): Test => {
  const [attribute, value] = sidesOf(given, name);
  const isStrict = name.length === 3;
  if (value === null || value === undefined) {
    const isMissing = opposite(isSet(attribute));
    return isStrict
      ? isMissing
      : exactIf(isMissing, attribute, { yes: "a string", no: "a string" });
  }
  if (!isScalar(value)) throw new CannotTranslate("compares with a list");
  const type = typesOf([value]);
  if (isStrict) {
    return exactIf(equals(attribute, [value]), attribute, { yes: "not a list", no: type });
  }
  // Other types are converted, and some engines take null for zero and for false.
  const test = exactIf(equals(attribute, likenessesOf(value)), attribute, { yes: type, no: type });
  const isZero = value === 0 || value === false || value === "0";
  return isZero ? exactIf(test, attribute, { yes: "there", no: "there" }) : test;
};

const orders: Readonly<Record<string, readonly [Order, Order]>> = {
  "<": ["lt", "gt"],
  "<=": ["lte", "gte"],
  ">": ["gt", "lt"],
  ">=": ["gte", "lte"],
};

const readOrder = (given: readonly unknown[], name: string): Test => {
  const [low, middle, high] = given;
  if (given.length === 3) {
    return every([readOrder([low, middle], name), readOrder([middle, high], name)]);
  }
  const [attribute, value, isSwapped] = sidesOf(given, name);
  const number = typeof value === "string" ? numberFrom(value) : value;
  const order = orders[name]?.[isSwapped ? 1 : 0];
  if (typeof number !== "number" || order === undefined) {
    throw new CannotTranslate(`compares the order of texts (${name})`);
  }
  const test = numberTest(attribute, order, number, { fromText: true, missingIsZero: true });
  // Two strings are compared as strings.
  const expected = typeof value === "string" ? "a number" : "a number, or a string such as 12.5";
  return exactIf(test, attribute, { yes: expected, no: expected });
};

const readIn = ([needle, place]: readonly unknown[]): Test => {
  const attribute = variableOf(needle);
  if (attribute !== undefined && Array.isArray(place)) {
    const scalars = place.filter(isScalar);
    if (scalars.length < place.length) throw new CannotTranslate("compares with a list of lists");
    const no = typesOf(scalars);
    return exactIf(equals(attribute, scalars), attribute, { yes: "not a list", no });
  }
  const list = variableOf(place);
  if (list === undefined || typeof needle !== "string") {
    throw new CannotTranslate("looks for something other than an attribute or a text (in)");
  }
  // A part of a text, or an element of a list.
  const both = some([textTest(list, "contains", [needle]), equals(list, [needle])]);
  return {
    ...exactIf(both, list, { yes: "a string or a list of strings" }),
    no() {
      throw new CannotTranslate(`asks that ${list}, a text or a list, does not have "${needle}"`);
    },
  };
};

const versionOrders: Readonly<Record<string, VersionOrder>> = {
  "=": "Eq",
  "<": "Lt",
  "<=": "Lte",
  ">": "Gt",
  ">=": "Gte",
};

const versionOf = ([subject, operator, version]: readonly unknown[]): Test => {
  const attribute = variableOf(subject);
  if (attribute === undefined || typeof version !== "string") {
    throw new CannotTranslate("compares something other than an attribute and a version (sem_ver)");
  }
  const order = versionOrders[String(operator)];
  if (order !== undefined) return versionTest(attribute, order, version);
  const equal = versionTest(attribute, "Eq", version);
  if (operator === "!=") return oppositeWhenSet(attribute, equal);
  const [major = 0, minor = 0] = version
    .replace(/^v/i, "")
    .split(".")
    .map((part) => Number.parseInt(part, 10));
  const between = (from: string, to: string) =>
    // The lowest of all pre-releases begins a version.
    every([versionTest(attribute, "Gte", `${from}-0`), versionTest(attribute, "Lt", `${to}-0`)]);
  if (operator === "^") return between(`${major}.0.0`, `${major + 1}.0.0`);
  if (operator === "~") return between(`${major}.${minor}.0`, `${major}.${minor + 1}.0`);
  throw new CannotTranslate(`compares versions with ${String(operator)}`);
};

const readVersion = (given: readonly unknown[]): Test => {
  const expected = "a version such as 2.5.0";
  return exactIf(versionOf(given), variableOf(given[0]) ?? "", { yes: expected, no: expected });
};

const readText = (given: readonly unknown[], op: "startsWith" | "endsWith", name: string): Test => {
  const attribute = variableOf(given[0]);
  if (attribute === undefined || typeof given[1] !== "string") {
    throw new CannotTranslate(`compares something other than an attribute and a text (${name})`);
  }
  return exactIf(textTest(attribute, op, [given[1]]), attribute, { no: "a string" });
};

const readOperation = (name: string, given: readonly unknown[]): Test => {
  switch (name) {
    case "and":
      return every(given.map(readLogic));
    case "or":
      return some(given.map(readLogic));
    case "!":
      return opposite(readLogic(given[0]));
    case "!!":
      return readLogic(given[0]);
    case "==":
    case "===":
      return readEqual(given, name);
    case "!=":
    case "!==":
      return opposite(readEqual(given, name.replace("!", "=")));
    case "<":
    case "<=":
    case ">":
    case ">=":
      return readOrder(given, name);
    case "in":
      return readIn(given);
    case "starts_with":
      return readText(given, "startsWith", name);
    case "ends_with":
      return readText(given, "endsWith", name);
    case "sem_ver":
      return readVersion(given);
    case "missing": {
      const names = listOf(given.flat()).map((each) => pathTo(String(each).split(".")));
      return some(
        names.map((attribute) =>
          exactIf(opposite(isSet(attribute)), attribute, { yes: "never null", no: "never null" }),
        ),
      );
    }
    default:
      throw new CannotTranslate(`has the operator ${name}`);
  }
};

const comparisons = new Set(["==", "===", "!=", "!==", "<", "<=", ">", ">=", "!", "!!", "in"]);

/** Whether the result is true or false, and not merely truthy or falsy. */
export const isTrueOrFalse = (value: unknown): boolean => {
  if (typeof value === "boolean") return true;
  const [name = "", given = []] = operationOf(value) ?? [];
  if (name === "and" || name === "or") return given.length > 0 && given.every(isTrueOrFalse);
  return comparisons.has(name);
};

/** Whether JsonLogic takes the expression for true. */
export const readLogic = (value: unknown): Test =>
  attempt(() => {
    if (typeof value === "boolean") return value ? always : never;
    const attribute = variableOf(value);
    if (attribute !== undefined) {
      return exactIf(truthy(attribute), attribute, { yes: aScalar, no: aScalar });
    }
    const operation = operationOf(value);
    if (operation === undefined)
      throw new CannotTranslate("has a value in the place of a condition");
    return readOperation(...operation);
  });
