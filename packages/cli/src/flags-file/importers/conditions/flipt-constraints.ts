// Constraints of Flipt. Its contexts contain strings, and a missing property matches only `empty` and `notpresent`.
import {
  type Fields,
  fieldsOf,
  listOf,
  parsedJson,
  textOf,
  writtenAs,
} from "../../loose-values.ts";
import {
  aNumber,
  negated,
  numberOf,
  type Operator,
  type Operators,
  onlyFor,
  operatorsFor,
  sameNumber,
  translate,
} from "../translate/conditions.ts";
import {
  equals,
  isSet,
  momentOrEqualTest,
  momentTest,
  numberTest,
  oppositeWhenSet,
  targetingKey,
  textTest,
} from "../translate/leaves.ts";
import { every, exactIf, impossible, opposite, some, type Test } from "../translate/logic.ts";

const listFrom = (value: unknown): string[] => {
  const list = Array.isArray(value) ? value : parsedJson(value);
  return (Array.isArray(list) ? list : [value]).map(String);
};

/** An empty string counts as missing, so no other operator matches it. */
const isNotEmpty = (attribute: string): Test => oppositeWhenSet(attribute, equals(attribute, [""]));
const isEmpty = (attribute: string): Test =>
  some([opposite(isSet(attribute)), equals(attribute, [""])]);

const oneOf = (attribute: string, texts: readonly string[]): Test =>
  equals(
    attribute,
    texts.filter((text) => text !== ""),
    { loose: true },
  );
const noneOf = (attribute: string, texts: readonly string[]): Test =>
  oppositeWhenSet(attribute, equals(attribute, [...texts, ""], { loose: true }));

const textOperator =
  (op: "startsWith" | "endsWith" | "contains"): Operator<unknown> =>
  (attribute, value) => {
    const text = writtenAs(value);
    return text === "" ? isNotEmpty(attribute) : textTest(attribute, op, [text]);
  };
const containsNot = negated(textOperator("contains"));

const textOperators: Operators<unknown> = {
  eq: (attribute, value) => oneOf(attribute, [writtenAs(value)]),
  neq: (attribute, value) => noneOf(attribute, [writtenAs(value)]),
  isoneof: (attribute, value) => oneOf(attribute, listFrom(value)),
  isnotoneof: (attribute, value) => noneOf(attribute, listFrom(value)),
  empty: isEmpty,
  notempty: isNotEmpty,
  prefix: textOperator("startsWith"),
  suffix: textOperator("endsWith"),
  contains: textOperator("contains"),
  notcontains: (attribute, value) => every([containsNot(attribute, value), isNotEmpty(attribute)]),
};

const present: Operators<unknown> = { present: isNotEmpty, notpresent: isEmpty };

const isAmong: Operator<unknown> = (attribute, value) =>
  some(
    listFrom(value).map((each) =>
      exactIf(sameNumber(attribute, numberOf(each)), attribute, aNumber),
    ),
  );

const isSameTime: Operator<unknown> = (attribute, value) =>
  every([
    momentOrEqualTest(attribute, "before", value),
    momentOrEqualTest(attribute, "after", value),
  ]);

/** Operators by type of comparison. */
const operators: Readonly<Record<string, Operators<unknown>>> = {
  ENTITY_ID_COMPARISON_TYPE: textOperators,
  STRING_COMPARISON_TYPE: textOperators,
  NUMBER_COMPARISON_TYPE: {
    ...present,
    ...{ eq: isAmong, neq: negated(isAmong), isoneof: isAmong, isnotoneof: negated(isAmong) },
    ...onlyFor(
      aNumber,
      operatorsFor(
        { lt: "lt", lte: "lte", gt: "gt", gte: "gte" },
        (order) => (attribute, value) =>
          numberTest(attribute, order, numberOf(value), { fromText: true }),
      ),
    ),
  },
  BOOLEAN_COMPARISON_TYPE: {
    ...present,
    ...onlyFor(
      "true or false, or written so",
      operatorsFor(
        { true: true, false: false },
        (is, name) => (attribute) => equals(attribute, [is, name], { ignoreCase: true }),
      ),
    ),
  },
  DATETIME_COMPARISON_TYPE: {
    ...present,
    ...onlyFor("a time such as 2026-11-14T12:00:00Z", {
      eq: isSameTime,
      neq: negated(isSameTime),
      lt: (attribute, value) => momentTest(attribute, "before", value),
      lte: (attribute, value) => momentOrEqualTest(attribute, "before", value),
      gt: (attribute, value) => momentTest(attribute, "after", value),
      gte: (attribute, value) => momentOrEqualTest(attribute, "after", value),
    }),
  },
};

const readConstraint = ({ type, property, operator, value }: Fields): Test => {
  const known = operators[String(type)];
  if (known === undefined) return impossible(`compares by ${String(type)}`);
  const isEntity = type === "ENTITY_ID_COMPARISON_TYPE";
  const attribute = isEntity ? targetingKey : (textOf(property) ?? "");
  return translate({ attribute, operator: String(operator), value }, known);
};

/** A segment without constraints contains everyone. */
export const readConstraints = ({ constraints, match_type: match }: Fields): Test => {
  const tests = listOf(constraints).map(fieldsOf).map(readConstraint);
  return match === "ANY_MATCH_TYPE" && tests.length > 0 ? some(tests) : every(tests);
};
