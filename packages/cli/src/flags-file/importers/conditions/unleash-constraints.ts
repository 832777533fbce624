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
  type VersionOrder,
  versionTest,
} from "../translate/leaves.ts";
import { attempt, CannotTranslate, every, opposite, type Test } from "../translate/logic.ts";

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
    .map((value) => String(value).trim())
    .filter((value) => value !== "");
  if (operator === "IN") return equals(attribute, values, { loose: true });
  if (operator === "NOT_IN") return opposite(equals(attribute, values, { loose: true }));
  const text = textOperators[operator];
  if (text !== undefined) {
    return textTest(attribute, text, values, constraint.caseInsensitive === true);
  }
  if (operator === "NUM_EQ") {
    const number = numberFrom(constraint.value);
    return equals(attribute, [String(number)], { loose: true });
  }
  const order = orders[operator];
  if (order !== undefined) {
    return numberTest(attribute, order, numberFrom(constraint.value), { fromText: true });
  }
  const version = versions[operator];
  if (version !== undefined) return versionTest(attribute, version, constraint.value);
  if (operator === "IN_CIDR") return networkTest(attribute, values);
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
