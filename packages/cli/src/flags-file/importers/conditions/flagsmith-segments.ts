// Segments of Flagsmith: ALL, ANY and NONE rules over conditions on traits, and a percentage of the matching users.
import {
  type Fields,
  fieldsOf,
  listOf,
  parsedJson,
  textOf,
  writtenAs,
} from "../../loose-values.ts";
import {
  aVersion,
  type Expression,
  negated,
  numberOf,
  type Operator,
  type Operators,
  operatorsFor,
  translate,
  wholeVersion,
} from "../translate/conditions.ts";
import {
  equals,
  isSet,
  numberTest,
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
  exactIf,
  impossible,
  never,
  opposite,
  type Test,
} from "../translate/logic.ts";
import { notAPercentage, percentOf } from "../translate/percentage.ts";

const percentageOperator = "PERCENTAGE_SPLIT";

const propertyOf = (condition: Fields): string | undefined =>
  textOf(condition.property_) ?? textOf(condition.property);

/** A trait by its name, or by one of Flagsmith's paths into the context. */
const attributeOf = (property: string): string => {
  if (property === "$.identity.identifier") return targetingKey;
  const trait = /^\$\.identity\.traits\.(.+)$/.exec(property)?.[1];
  const quoted = /^\$\.identity\.traits\['(.+)'\]$/.exec(property)?.[1];
  const name = trait ?? quoted ?? property;
  if (name.startsWith("$.")) throw new CannotTranslate(`uses ${property}`);
  return pathTo([name]);
};

/** Traits are strings, so other values in a list never match. */
const listFrom = (value: unknown): string[] => {
  const list = Array.isArray(value) ? value : parsedJson(value);
  if (Array.isArray(list)) return list.filter((each) => typeof each === "string");
  return writtenAs(value).split(",");
};

/** The value is converted to a number for a numeric trait, and to false or true for a boolean trait. */
const isEqual: Operator<unknown> = (attribute, value) => {
  const text = writtenAs(value);
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
const isOneOf: Operator<unknown> = (attribute, list) => {
  const named = listFrom(list).filter((text) => text !== "");
  const values = withLikenesses(attribute, named).filter(
    (value) => value !== 0 && typeof value !== "boolean",
  );
  return exactIf(equals(attribute, values), attribute, { no: typesOf(values) });
};

const versionIn = (value: unknown): string | undefined =>
  /^(.*):semver$/.exec(writtenAs(value))?.[1];

/** A value such as 2.5.0:semver is compared as a version. */
const orVersion =
  (order: VersionOrder, operator: Operator<unknown>): Operator<unknown> =>
  (attribute, value) => {
    const text = versionIn(value);
    if (text === undefined) return operator(attribute, value);
    const version = wholeVersion(text);
    return version === undefined
      ? never
      : exactIf(versionTest(attribute, order, version), attribute, aVersion);
  };

const isNotEqual: Operator<unknown> = (attribute, value) => {
  const version = versionIn(value);
  if (version === undefined) return negated(isEqual)(attribute, value);
  // Unlike with EQUAL, versions are compared as strings here.
  return exactIf(oppositeWhenSet(attribute, equals(attribute, [version])), attribute, "a string");
};

const contains =
  (isNegated: boolean): Operator<unknown> =>
  (attribute, value) => {
    const text = writtenAs(value);
    if (text === "") throw new CannotTranslate("compares with an empty string");
    const test = textTest(attribute, "contains", [text]);
    const wanted = isNegated ? oppositeWhenSet(attribute, test) : test;
    return exactIf(wanted, attribute, { no: "a string" });
  };

const operators: Operators<unknown> = {
  EQUAL: orVersion("Eq", isEqual),
  NOT_EQUAL: isNotEqual,
  IN: isOneOf,
  IS_SET: isSet,
  IS_NOT_SET: (attribute) => opposite(isSet(attribute)),
  CONTAINS: contains(false),
  NOT_CONTAINS: contains(true),
  ...operatorsFor(
    {
      LESS_THAN: ["lt", "Lt"],
      LESS_THAN_INCLUSIVE: ["lte", "Lte"],
      GREATER_THAN: ["gt", "Gt"],
      GREATER_THAN_INCLUSIVE: ["gte", "Gte"],
    },
    ([order, versionOrder]) =>
      orVersion(versionOrder, (attribute, value) =>
        exactIf(numberTest(attribute, order, numberOf(value)), attribute, "a number"),
      ),
  ),
};

const parseCondition = (condition: Fields): Expression<unknown> => {
  const operator = String(condition.operator);
  if (operator === percentageOperator) {
    throw new CannotTranslate("has a percentage among several alternatives");
  }
  const property = propertyOf(condition);
  if (property === undefined) return never;
  return { attribute: attributeOf(property), operator, value: condition.value };
};

const group = (type: unknown, parts: readonly Expression<unknown>[]): Expression<unknown> => {
  if (type === "ANY" && parts.length > 0) return { any: parts };
  return { all: type === "NONE" ? parts.map((not) => ({ not })) : parts };
};

const conditionsOf = (rule: Fields): readonly Fields[] => listOf(rule.conditions).map(fieldsOf);
const rulesOf = (rule: Fields): readonly Fields[] => listOf(rule.rules).map(fieldsOf);

/** The rule's type applies to its conditions, and separately to its inner rules. Both must match. */
const parseRule = (rule: Fields): Expression<unknown> => ({
  all: [
    group(rule.type, conditionsOf(rule).map(parseCondition)),
    group(rule.type, rulesOf(rule).map(parseRule)),
  ],
});

interface Portion {
  readonly value: unknown;
  readonly property: string | undefined;
  /** The complement of the percentage. */
  readonly isRest: boolean;
}

/** Removes percentages that apply to all users of the segment from its rules. */
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
  /** The share of the segment's users; undefined for all. Fails if Halyard can't represent the percentage. */
  readonly share: (() => { readonly percent: number; readonly by: string | undefined }) | undefined;
}

export const readSegment = (segment: Fields): SegmentReading => {
  const portions: Portion[] = [];
  const rules = listOf(segment.rules).map((rule) => takePortions(fieldsOf(rule), portions));
  const [only] = portions;
  const when =
    rules.length === 0 ? never : attempt(() => translate({ all: rules.map(parseRule) }, operators));
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
