// Constraints of Unleash. Values are compared as strings, and an inverted constraint matches contexts without the field.
import { type Fields, fieldsOf, listOf, textOf } from "../../loose-values.ts";
import {
  aNumber,
  checkCase,
  type Expression,
  numberOf,
  type Operators,
  onlyFor,
  operatorsFor,
  plainVersionTest,
  sameNumber,
  translate,
  wholeVersion,
} from "../translate/conditions.ts";
import {
  equals,
  networkTest,
  numberTest,
  targetingKey,
  textTest,
  typesOf,
  withLikenesses,
} from "../translate/leaves.ts";
import { CannotTranslate, exactIf, never, type Test } from "../translate/logic.ts";

/** In Unleash, `userId` identifies users. */
export const attributeOf = (field: string): string => (field === "userId" ? targetingKey : field);

const valuesOf = ({ values }: Fields): string[] =>
  listOf(values)
    .map(String)
    .filter((value) => value !== "")
    .map((value) => value.trim());

const dependsOnTime = (): never => {
  throw new CannotTranslate("depends on the time (currentTime)");
};

const operators: Operators<Fields> = {
  /** Unleash compares the string form of the value. */
  IN(attribute, constraint) {
    const values = valuesOf(constraint);
    const no = typesOf(withLikenesses(attribute, values));
    return exactIf(equals(attribute, values, { loose: true }), attribute, { no });
  },
  ...operatorsFor(
    { STR_STARTS_WITH: "startsWith", STR_ENDS_WITH: "endsWith", STR_CONTAINS: "contains" },
    (op) => (attribute, constraint) => {
      const values = valuesOf(constraint);
      const ignoreCase = constraint.caseInsensitive === true;
      if (ignoreCase) checkCase(values);
      return exactIf(textTest(attribute, op, values, ignoreCase), attribute, "a string");
    },
  ),
  ...onlyFor(aNumber, {
    NUM_EQ: (attribute, { value }) => sameNumber(attribute, numberOf(value)),
    ...operatorsFor(
      { NUM_LT: "lt", NUM_LTE: "lte", NUM_GT: "gt", NUM_GTE: "gte" },
      (order) =>
        (attribute, { value }) =>
          numberTest(attribute, order, numberOf(value), { fromText: true }),
    ),
  }),
  ...operatorsFor(
    { SEMVER_EQ: "Eq", SEMVER_LT: "Lt", SEMVER_LTE: "Lte", SEMVER_GT: "Gt", SEMVER_GTE: "Gte" },
    (order) =>
      (attribute, { value }) => {
        const version = wholeVersion(value);
        return version === undefined ? never : plainVersionTest(attribute, order, version);
      },
  ),
  IN_CIDR: (attribute, constraint) =>
    exactIf(networkTest(attribute, valuesOf(constraint)), attribute, { no: "an IP address" }),
  DATE_BEFORE: dependsOnTime,
  DATE_AFTER: dependsOnTime,
};

/** Fields that Unleash's SDKs add to every context. */
export const ownFields: readonly string[] = ["appName", "environment"];

const parse = (constraint: Fields): Expression<Fields> => {
  const field = textOf(constraint.contextName) ?? "";
  const isNotIn = constraint.operator === "NOT_IN";
  const comparison = {
    attribute: attributeOf(field),
    operator: isNotIn ? "IN" : String(constraint.operator),
    value: constraint,
  };
  if (isNotIn === (constraint.inverted === true)) return comparison;
  // Unleash's SDKs always send their own fields, so a context without them must not match here.
  return ownFields.includes(field) ? { ...comparison, negated: true } : { not: comparison };
};

export const readConstraints = (constraints: unknown): Test =>
  translate({ all: listOf(constraints).map(fieldsOf).map(parse) }, operators);
