// Constraints of Unleash. Values are compared as texts, and an inverted constraint matches who lacks the field.
import { type Fields, fieldsOf, listOf, textOf, writtenAs } from "../../loose-values.ts";
import {
  equals,
  networkTest,
  numberTest,
  type Order,
  oppositeWhenSet,
  targetingKey,
  textTest,
  typesOf,
  type VersionOrder,
  versionTest,
  withLikenesses,
} from "../translate/leaves.ts";
import {
  attempt,
  CannotTranslate,
  every,
  exactIf,
  never,
  opposite,
  type Test,
} from "../translate/logic.ts";

/** Unleash knows its users by `userId`. */
export const attributeOf = (field: string): string => (field === "userId" ? targetingKey : field);

const textOperators: Readonly<Record<string, "startsWith" | "endsWith" | "contains">> = {
  STR_STARTS_WITH: "startsWith",
  STR_ENDS_WITH: "endsWith",
  STR_CONTAINS: "contains",
};

const orders: Readonly<Record<string, Order>> = {
  NUM_LT: "lt",
  NUM_LTE: "lte",
  NUM_GT: "gt",
  NUM_GTE: "gte",
};

const versions: Readonly<Record<string, VersionOrder>> = {
  SEMVER_EQ: "Eq",
  SEMVER_LT: "Lt",
  SEMVER_LTE: "Lte",
  SEMVER_GT: "Gt",
  SEMVER_GTE: "Gte",
};

const aNumber = "a number, or a string such as 12.5";
const bothSides = (is: string) => ({ yes: is, no: is });

/** Unleash compares the string form of the value. */
const oneOf = (attribute: string, values: readonly string[]): Test =>
  exactIf(equals(attribute, values, { loose: true }), attribute, {
    no: typesOf(withLikenesses(attribute, values)),
  });

/** Unleash's SDKs don't accept versions with a leading v or a missing part. */
const readVersion = (attribute: string, order: VersionOrder, value: unknown): Test => {
  if (!/^[v=\s]*\d+\.\d+\.\d+/.test(writtenAs(value))) return never;
  const test = every([
    versionTest(attribute, order, writtenAs(value).replace(/^[v=\s]*/, "")),
    oppositeWhenSet(attribute, textTest(attribute, "startsWith", ["v", "V"])),
  ]);
  return exactIf(test, attribute, bothSides("a version such as 2.5.0"));
};

const readText = (
  attribute: string,
  operator: "startsWith" | "endsWith" | "contains",
  texts: readonly string[],
  ignoreCase: boolean,
): Test => {
  if (ignoreCase && texts.some((text) => /[^\0-\x7f]/.test(text))) {
    throw new CannotTranslate("ignores the case of letters other than A to Z");
  }
  return exactIf(
    textTest(attribute, operator, texts, ignoreCase),
    attribute,
    bothSides("a string"),
  );
};

const numberFrom = (value: unknown): number => {
  const number = Number(String(value).trim());
  if (textOf(writtenAs(value)) === undefined || !Number.isFinite(number)) {
    throw new CannotTranslate(`compares with ${String(value)}, which is not a number`);
  }
  return number;
};

const readPlain = (constraint: Fields): Test => {
  const operator = String(constraint.operator);
  const attribute = attributeOf(textOf(constraint.contextName) ?? "");
  const values = listOf(constraint.values)
    .map(String)
    .filter((value) => value !== "")
    .map((value) => value.trim());
  if (operator === "IN") return oneOf(attribute, values);
  if (operator === "NOT_IN") return opposite(oneOf(attribute, values));
  const text = textOperators[operator];
  if (text !== undefined) {
    return readText(attribute, text, values, constraint.caseInsensitive === true);
  }
  const wanted: readonly Order[] =
    operator === "NUM_EQ" ? ["gte", "lte"] : [orders[operator] ?? []].flat();
  if (wanted.length > 0) {
    const number = numberFrom(constraint.value);
    const tests = wanted.map((order) => numberTest(attribute, order, number, { fromText: true }));
    return exactIf(every(tests), attribute, bothSides(aNumber));
  }
  const version = versions[operator];
  if (version !== undefined) return readVersion(attribute, version, constraint.value);
  if (operator === "IN_CIDR") {
    return exactIf(networkTest(attribute, values), attribute, { no: "an IP address" });
  }
  if (operator === "REGEX") throw new CannotTranslate("has a regular expression (REGEX)");
  if (operator.startsWith("DATE_")) {
    throw new CannotTranslate("depends on the time (currentTime)");
  }
  throw new CannotTranslate(`has the operator ${operator}`);
};

/** What Unleash's SDKs put into every context by themselves. */
export const ownFields: readonly string[] = ["appName", "environment"];

const readConstraint = (constraint: Fields): Test => {
  const test = attempt(() => readPlain(constraint));
  const isInverted = constraint.inverted === true;
  const name = String(constraint.contextName);
  if (!ownFields.includes(name)) return isInverted ? opposite(test) : test;
  // Nobody lacks it there; here a program that does not send it must not match.
  const isNegative = isInverted !== (constraint.operator === "NOT_IN");
  const plain = constraint.operator === "NOT_IN" ? opposite(test) : test;
  return isNegative ? oppositeWhenSet(name, plain) : plain;
};

/** All of them must hold. */
export const readConstraints = (constraints: unknown): Test =>
  every(listOf(constraints).map((constraint) => readConstraint(fieldsOf(constraint))));
