// Constraints of Flipt. Its contexts are texts, and a missing property matches nothing but `empty` and `notpresent`.
import { type Fields, fieldsOf, listOf, textOf, writtenAs } from "../../loose-values.ts";
import {
  equals,
  isSet,
  momentOrEqualTest,
  momentTest,
  numberTest,
  type Order,
  oppositeWhenSet,
  targetingKey,
  textTest,
} from "../translate/leaves.ts";
import {
  attempt,
  CannotTranslate,
  every,
  exactIf,
  never,
  opposite,
  some,
  type Test,
} from "../translate/logic.ts";

const listFrom = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.map(String);
  try {
    const parsed: unknown = JSON.parse(String(value));
    if (Array.isArray(parsed)) return parsed.map(String);
  } catch {}
  return [String(value)];
};

const unknownOperator = (operator: string): never => {
  throw new CannotTranslate(`has the operator ${operator}`);
};

/** An empty string counts as missing, so no other operator matches it. */
const isNotEmpty = (attribute: string): Test => oppositeWhenSet(attribute, equals(attribute, [""]));
const isEmpty = (attribute: string): Test =>
  some([opposite(isSet(attribute)), equals(attribute, [""])]);

const bothSides = (is: string) => ({ yes: is, no: is });

const readText = (attribute: string, operator: string, value: unknown): Test => {
  const text = writtenAs(value);
  const notEmpty = isNotEmpty(attribute);
  const oneOf = (values: readonly string[]) => equals(attribute, values, { loose: true });
  const withText = (op: "startsWith" | "endsWith" | "contains") =>
    text === "" ? notEmpty : textTest(attribute, op, [text]);
  switch (operator) {
    case "eq":
      return text === "" ? never : oneOf([text]);
    case "neq":
      return oppositeWhenSet(attribute, oneOf([text, ""]));
    case "empty":
      return isEmpty(attribute);
    case "notempty":
      return notEmpty;
    case "prefix":
      return withText("startsWith");
    case "suffix":
      return withText("endsWith");
    case "contains":
      return withText("contains");
    case "notcontains":
      return every([oppositeWhenSet(attribute, withText("contains")), notEmpty]);
    case "isoneof":
      return oneOf(listFrom(value).filter((each) => each !== ""));
    case "isnotoneof":
      return oppositeWhenSet(attribute, oneOf([...listFrom(value), ""]));
    default:
      return unknownOperator(operator);
  }
};

const orders: Readonly<Record<string, Order>> = { lt: "lt", lte: "lte", gt: "gt", gte: "gte" };

const readNumber = (attribute: string, operator: string, value: unknown): Test => {
  const numberFrom = (text: string): number => {
    const number = Number(text);
    if (text.trim() !== "" && Number.isFinite(number)) return number;
    throw new CannotTranslate(`compares with ${text}, which is not a number`);
  };
  const exact = (test: Test) =>
    exactIf(test, attribute, bothSides("a number, or a string such as 12.5"));
  const compare = (op: Order, number: number) =>
    exact(numberTest(attribute, op, number, { fromText: true }));
  const oneOf = (texts: readonly string[]) =>
    some(
      texts
        .map(numberFrom)
        .map((number) => every([compare("gte", number), compare("lte", number)])),
    );
  const order = orders[operator];
  if (order !== undefined) return compare(order, numberFrom(String(value)));
  if (operator === "eq") return oneOf([String(value)]);
  if (operator === "neq") return oppositeWhenSet(attribute, oneOf([String(value)]));
  if (operator === "isoneof") return oneOf(listFrom(value));
  if (operator === "isnotoneof") return oppositeWhenSet(attribute, oneOf(listFrom(value)));
  return unknownOperator(operator);
};

const readBoolean = (attribute: string, operator: string): Test => {
  if (operator !== "true" && operator !== "false") return unknownOperator(operator);
  const test = equals(attribute, [operator === "true", operator], { ignoreCase: true });
  return exactIf(test, attribute, bothSides("true or false, or written so"));
};

const readMoment = (attribute: string, operator: string, value: unknown): Test => {
  const sameTime = every([
    momentOrEqualTest(attribute, "before", value),
    momentOrEqualTest(attribute, "after", value),
  ]);
  switch (operator) {
    case "eq":
      return sameTime;
    case "neq":
      return oppositeWhenSet(attribute, sameTime);
    case "lt":
      return momentTest(attribute, "before", value);
    case "lte":
      return momentOrEqualTest(attribute, "before", value);
    case "gt":
      return momentTest(attribute, "after", value);
    case "gte":
      return momentOrEqualTest(attribute, "after", value);
    default:
      return unknownOperator(operator);
  }
};

const readTyped = (type: unknown, attribute: string, operator: string, value: unknown): Test => {
  if (type === "STRING_COMPARISON_TYPE") return readText(attribute, operator, value);
  if (operator === "present") return isNotEmpty(attribute);
  if (operator === "notpresent") return isEmpty(attribute);
  if (type === "NUMBER_COMPARISON_TYPE") return readNumber(attribute, operator, value);
  if (type === "BOOLEAN_COMPARISON_TYPE") return readBoolean(attribute, operator);
  if (type !== "DATETIME_COMPARISON_TYPE") {
    throw new CannotTranslate(`compares by ${String(type)}`);
  }
  const test = readMoment(attribute, operator, value);
  return exactIf(test, attribute, bothSides("a time such as 2026-11-14T12:00:00Z"));
};

const readConstraint = ({ type, property, operator, value }: Fields): Test => {
  const name = String(operator);
  if (type === "ENTITY_ID_COMPARISON_TYPE") return readText(targetingKey, name, value);
  return readTyped(type, textOf(property) ?? "", name, value);
};

/** A segment without constraints has everyone. */
export const readConstraints = ({ constraints, match_type: match }: Fields): Test => {
  const tests = listOf(constraints).map((constraint) =>
    attempt(() => readConstraint(fieldsOf(constraint))),
  );
  return match === "ANY_MATCH_TYPE" && tests.length > 0 ? some(tests) : every(tests);
};
