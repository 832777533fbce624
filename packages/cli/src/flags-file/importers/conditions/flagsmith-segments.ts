// Segments of Flagsmith: rules of ALL, ANY and NONE over conditions on traits, and a percentage of those they name.
import { type Fields, fieldsOf, listOf, textOf, writtenAs } from "../../loose-values.ts";
import {
  equals,
  isSet,
  numberTest,
  type Order,
  oppositeWhenSet,
  pathTo,
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
  impossible,
  never,
  opposite,
  some,
  type Test,
} from "../translate/logic.ts";
import { notAPercentage, percentOf } from "../translate/percentage.ts";

const percentageOperator = "PERCENTAGE_SPLIT";

const orders: Readonly<Record<string, Order>> = {
  LESS_THAN: "lt",
  LESS_THAN_INCLUSIVE: "lte",
  GREATER_THAN: "gt",
  GREATER_THAN_INCLUSIVE: "gte",
};

const versions: Readonly<Record<string, VersionOrder>> = {
  EQUAL: "Eq",
  LESS_THAN: "Lt",
  LESS_THAN_INCLUSIVE: "Lte",
  GREATER_THAN: "Gt",
  GREATER_THAN_INCLUSIVE: "Gte",
};

const propertyOf = (condition: Fields): string | undefined =>
  textOf(condition.property_) ?? textOf(condition.property);

/** A trait by its name, or one of the paths into the context that Flagsmith has. */
const attributeOf = (property: string): string => {
  if (property === "$.identity.identifier") return targetingKey;
  const trait = /^\$\.identity\.traits\.(.+)$/.exec(property)?.[1];
  const quoted = /^\$\.identity\.traits\['(.+)'\]$/.exec(property)?.[1];
  const name = trait ?? quoted ?? property;
  if (name.startsWith("$.")) throw new CannotTranslate(`asks for ${property}`);
  return pathTo([name]);
};

/** Traits are strings, so other values in a list never match. */
const listFrom = (value: unknown): string[] => {
  const texts = (list: readonly unknown[]) => list.filter((each) => typeof each === "string");
  if (Array.isArray(value)) return texts(value);
  const text = writtenAs(value);
  try {
    const parsed: unknown = JSON.parse(text);
    if (Array.isArray(parsed)) return texts(parsed);
  } catch {}
  return text.split(",");
};

const bothSides = (is: string) => ({ yes: is, no: is });

/** The value is converted to a number for a numeric trait, and to false or true for a boolean trait. */
const isEqual = (attribute: string, text: string): Test => {
  if (attribute === targetingKey) return equals(attribute, [text]);
  const number = Number.parseFloat(text);
  const isBoolean = /^([Tt]rue|[Ff]alse)$/.test(text);
  const values = [
    text,
    ...(Number.isFinite(number) ? [number] : []),
    ...(isBoolean ? [/^t/i.test(text)] : []),
  ];
  // For a boolean trait, any other value counts as true.
  const yes = isBoolean ? {} : { yes: "a string or a number" };
  return exactIf(equals(attribute, values), attribute, { ...yes, no: typesOf(values) });
};

/** Zero and false never match a list. */
const isOneOf = (attribute: string, texts: readonly string[]): Test => {
  const named = texts.filter((text) => text !== "");
  const values = withLikenesses(attribute, named).filter(
    (value) => value !== 0 && typeof value !== "boolean",
  );
  return exactIf(equals(attribute, values), attribute, { no: typesOf(values) });
};

const readVersion = (attribute: string, operator: string, version: string): Test | undefined => {
  const order = versions[operator];
  if (operator === "NOT_EQUAL") {
    // Unlike with EQUAL, versions are compared as strings here.
    const isOther = oppositeWhenSet(attribute, equals(attribute, [version]));
    return exactIf(isOther, attribute, bothSides("a string"));
  }
  if (order === undefined) return undefined;
  if (!/^[v=\s]*\d+\.\d+\.\d+/.test(version)) return never;
  const test = versionTest(attribute, order, version.replace(/^[v=\s]*/, ""));
  return exactIf(test, attribute, bothSides("a version such as 2.5.0"));
};

const readCondition = (condition: Fields): Test => {
  const operator = String(condition.operator);
  if (operator === percentageOperator) {
    throw new CannotTranslate("has a percentage as one of several alternatives");
  }
  const property = propertyOf(condition);
  if (property === undefined) return never;
  const attribute = attributeOf(property);
  const text = writtenAs(condition.value);
  const version = /^(.*):semver$/.exec(text)?.[1];
  if (operator === "IS_SET") return isSet(attribute);
  if (operator === "IS_NOT_SET") return opposite(isSet(attribute));
  if (version !== undefined) {
    const test = readVersion(attribute, operator, version);
    if (test !== undefined) return test;
  }
  const order = orders[operator];
  if (order !== undefined) {
    const number = Number(text);
    if (text.trim() === "" || !Number.isFinite(number)) {
      throw new CannotTranslate(`compares with ${text}, which is not a number`);
    }
    return exactIf(numberTest(attribute, order, number), attribute, bothSides("a number"));
  }
  switch (operator) {
    case "EQUAL":
      return isEqual(attribute, text);
    case "NOT_EQUAL":
      return oppositeWhenSet(attribute, isEqual(attribute, text));
    case "IN":
      return isOneOf(attribute, listFrom(condition.value));
    case "CONTAINS":
    case "NOT_CONTAINS": {
      if (text === "") throw new CannotTranslate(`compares with an empty text (${operator})`);
      const test = textTest(attribute, "contains", [text]);
      const wanted = operator === "CONTAINS" ? test : oppositeWhenSet(attribute, test);
      return exactIf(wanted, attribute, { no: "a string" });
    }
    case "REGEX":
      throw new CannotTranslate("has a regular expression (REGEX)");
    default:
      throw new CannotTranslate(`has the operator ${operator}`);
  }
};

const group = (type: unknown, tests: readonly Test[]): Test => {
  if (type === "ANY") return tests.length === 0 ? every([]) : some(tests);
  if (type === "NONE") return every(tests.map(opposite));
  return every(tests);
};

const conditionsOf = (rule: Fields): readonly Fields[] => listOf(rule.conditions).map(fieldsOf);
const rulesOf = (rule: Fields): readonly Fields[] => listOf(rule.rules).map(fieldsOf);

/** Conditions and inner rules each by the rule's type, and both of them. */
const readRule = (rule: Fields): Test =>
  every([
    group(
      rule.type,
      conditionsOf(rule).map((condition) => attempt(() => readCondition(condition))),
    ),
    group(rule.type, rulesOf(rule).map(readRule)),
  ]);

interface Portion {
  readonly value: unknown;
  readonly property: string | undefined;
  /** Everyone but these. */
  readonly isRest: boolean;
}

/** Takes out a percentage that must hold for all whom the segment names. */
const takePortions = (rule: Fields, portions: Portion[], isRest = false): Fields => {
  const isOne = (list: readonly unknown[]) => list.length === 1;
  const isNone = rule.type === "NONE";
  const isAll = rule.type === "ALL" && !isRest;
  const conditions = conditionsOf(rule);
  const rules = rulesOf(rule);
  const mayTake = isAll || isOne(conditions);
  const kept = conditions.filter((condition) => {
    if (!mayTake || condition.operator !== percentageOperator) return true;
    portions.push({
      value: condition.value,
      property: propertyOf(condition),
      isRest: isRest !== isNone,
    });
    return false;
  });
  const mayGoOn = isAll || isOne(rules);
  const inner = rules.map((each) =>
    mayGoOn ? takePortions(each, portions, isRest !== isNone) : each,
  );
  const isEmpty = ({ conditions: own, rules: below }: Fields) =>
    listOf(own).length + listOf(below).length === 0;
  // A rule that is empty in the file matches everyone, so keep it.
  const left = inner.filter((each, index) => !isEmpty(each) || isEmpty(rules[index] ?? {}));
  return { ...rule, conditions: kept, rules: left };
};

export interface SegmentReading {
  readonly when: Test;
  /** Of those whom it names; undefined for all of them. Fails when Halyard has no such percentage. */
  readonly share: (() => { readonly percent: number; readonly by: string | undefined }) | undefined;
}

export const readSegment = (segment: Fields): SegmentReading => {
  const portions: Portion[] = [];
  const rules = listOf(segment.rules).map((rule) => takePortions(fieldsOf(rule), portions));
  const [only] = portions;
  const when = listOf(segment.rules).length === 0 ? never : every(rules.map(readRule));
  if (only === undefined) return { when, share: undefined };
  if (portions.length > 1) return { when: impossible("has several percentages"), share: undefined };
  return {
    when,
    share() {
      const percent = percentOf(only.value);
      if (percent === undefined) throw new CannotTranslate(notAPercentage(only.value));
      const isIdentity = only.property === undefined || only.property === "$.identity.key";
      const by = isIdentity ? undefined : attributeOf(only.property);
      const rest = Math.round((100 - percent) * 1_000) / 1_000;
      return { percent: only.isRest ? rest : percent, by: by === targetingKey ? undefined : by };
    },
  };
};
