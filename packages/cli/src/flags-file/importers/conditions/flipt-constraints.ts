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
import { attempt, CannotTranslate, every, opposite, some, type Test } from "../translate/logic.ts";

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

const readText = (attribute: string, operator: string, value: unknown): Test => {
  const text = writtenAs(value);
  const empty = some([opposite(isSet(attribute)), equals(attribute, [""])]);
  // An empty text is a missing one, which nothing else matches.
  const notEmpty = oppositeWhenSet(attribute, equals(attribute, [""]));
  const oneOf = (values: readonly string[]) => equals(attribute, values, { loose: true });
  switch (operator) {
    case "eq":
      return oneOf([text]);
    case "neq":
      return oppositeWhenSet(attribute, oneOf([text, ""]));
    case "empty":
      return empty;
    case "notempty":
      return notEmpty;
    case "prefix":
      return textTest(attribute, "startsWith", [text]);
    case "suffix":
      return textTest(attribute, "endsWith", [text]);
    case "contains":
      return textTest(attribute, "contains", [text]);
    case "notcontains":
      return every([oppositeWhenSet(attribute, textTest(attribute, "contains", [text])), notEmpty]);
    case "isoneof":
      return oneOf(listFrom(value));
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
  const oneOf = (texts: readonly string[]) =>
    equals(
      attribute,
      texts.map(numberFrom).flatMap((number) => [number, String(number)]),
    );
  const order = orders[operator];
  if (order !== undefined) {
    return numberTest(attribute, order, numberFrom(String(value)), { fromText: true });
  }
  if (operator === "eq") return oneOf([String(value)]);
  if (operator === "neq") return oppositeWhenSet(attribute, oneOf([String(value)]));
  if (operator === "isoneof") return oneOf(listFrom(value));
  if (operator === "isnotoneof") return oppositeWhenSet(attribute, oneOf(listFrom(value)));
  return unknownOperator(operator);
};

const readBoolean = (attribute: string, operator: string): Test => {
  if (operator !== "true" && operator !== "false") return unknownOperator(operator);
  return equals(attribute, [operator === "true", operator], { ignoreCase: true });
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

const readConstraint = ({ type, property, operator, value }: Fields): Test => {
  const name = String(operator);
  if (type === "ENTITY_ID_COMPARISON_TYPE") return readText(targetingKey, name, value);
  const attribute = textOf(property) ?? "";
  if (name === "present") return isSet(attribute);
  if (name === "notpresent") return opposite(isSet(attribute));
  switch (type) {
    case "STRING_COMPARISON_TYPE":
      return readText(attribute, name, value);
    case "NUMBER_COMPARISON_TYPE":
      return readNumber(attribute, name, value);
    case "BOOLEAN_COMPARISON_TYPE":
      return readBoolean(attribute, name);
    case "DATETIME_COMPARISON_TYPE":
      return readMoment(attribute, name, value);
    default:
      throw new CannotTranslate(`compares by ${String(type)}`);
  }
};

/** A segment without constraints has everyone. */
export const readConstraints = ({ constraints, match_type: match }: Fields): Test => {
  const tests = listOf(constraints).map((constraint) =>
    attempt(() => readConstraint(fieldsOf(constraint))),
  );
  return match === "ANY_MATCH_TYPE" && tests.length > 0 ? some(tests) : every(tests);
};
