// Tests of a single attribute, including how the other product treats a missing attribute.
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import { parseMoment } from "@halyard/core/targeting/conditions/moment";
import { parseNetwork } from "@halyard/core/targeting/conditions/network";
import type { AttributeCondition, Scalar } from "@halyard/core/targeting/conditions/operators";
import { parseVersion } from "@halyard/core/targeting/conditions/semver";
import { numberFrom } from "@halyard/core/targeting/conditions/texts";
import {
  allOf,
  anyOf,
  CannotTranslate,
  type Logic,
  never,
  opposite,
  some,
  type Test,
} from "./logic.ts";

/** Identifies the user of an evaluation. Other products have other names for it. */
export const targetingKey = "targetingKey";

const longestList = 1_000;
const mostTexts = 100;

export const exists = (attribute: string, value = true): Condition => ({
  attribute,
  op: "exists",
  value,
});

/** True for every context, for rules that need a condition. */
export const everyone: Condition = { any: [exists(targetingKey), exists(targetingKey, false)] };

const inverses: Readonly<Record<string, string>> = {
  in: "notIn",
  notIn: "in",
  lt: "gte",
  gte: "lt",
  gt: "lte",
  lte: "gt",
  semverLt: "semverGte",
  semverGte: "semverLt",
  semverGt: "semverLte",
  semverLte: "semverGt",
};

/** True if the condition is false, but unknown if it is unknown. */
const inverse = (condition: AttributeCondition): Condition => {
  const op = inverses[condition.op];
  return op === undefined ? { not: condition } : { ...condition, op };
};

/** Whether the other product's condition matches without the attribute. */
interface Missing {
  readonly missing?: boolean;
}

/** A condition on an attribute. By default, it does not match without the attribute. */
export const leaf = (condition: AttributeCondition, { missing = false }: Missing = {}): Test => {
  const isMissing = exists(condition.attribute, false);
  return {
    yes: () => anyOf([...(missing ? [isMissing] : []), condition]),
    no: () => anyOf([...(missing ? [] : [isMissing]), inverse(condition)]),
  };
};

/** Contexts that have the attribute but do not match. */
export const oppositeWhenSet = (attribute: string, test: Test): Test => {
  const isMissing = exists(attribute, false);
  const drop = (logic: Logic): Logic => {
    if (typeof logic === "boolean") return logic && exists(attribute);
    if (isSame(logic, isMissing)) return false;
    if ("any" in logic) return anyOf(logic.any.map(drop));
    return "all" in logic ? allOf(logic.all.map(drop)) : logic;
  };
  return {
    ...opposite(test),
    yes: () => drop(test.no()),
    no: () => anyOf([isMissing, test.yes()]),
  };
};

const isSame = (one: Condition, other: Condition): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export const isSet = (attribute: string): Test => ({
  yes: () => exists(attribute),
  no: () => exists(attribute, false),
});

const inParts = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );

const scalarTypes = ["string", "number", "boolean"] as const;

const namesOf = (values: readonly Scalar[], nameOf: (type: string) => string): string =>
  scalarTypes
    .filter((type) => values.some((value) => typeof value === type))
    .map(nameOf)
    .join(" or ");

/** The types that an attribute must have, if the product treats other types differently. */
export const typesOf = (values: readonly Scalar[]): string =>
  namesOf(values, (type) => (type === "boolean" ? "true or false" : `a ${type}`));

/** The types if a list matches by its elements. */
export const listTypesOf = (values: readonly Scalar[]): string =>
  namesOf(values, (type) => `a ${type} or a list of ${type}s`);

interface Equality {
  readonly ignoreCase?: boolean;
  /** The product compares strings, so that 7 equals "7" and true equals "true". */
  readonly loose?: boolean;
}

/** Values of other types with the same string form. */
const likenesses = (texts: readonly string[]): Scalar[] => [
  ...texts.flatMap((text) => {
    const number = numberFrom(text);
    return number === undefined || String(number) !== text ? [] : [number];
  }),
  ...texts.filter((text) => text === "true" || text === "false").map((text) => text === "true"),
];

/** The values that match if the product compares strings, including numbers and booleans with the same string form. */
export const withLikenesses = (attribute: string, texts: readonly string[]): readonly Scalar[] =>
  attribute === targetingKey ? texts : [...texts, ...likenesses(texts)];

/** Equal to one of the values. The values can have different types. */
export const equals = (
  attribute: string,
  values: readonly Scalar[],
  { ignoreCase = false, loose = false }: Equality = {},
): Test => {
  const texts = values.filter((value) => typeof value === "string");
  const isLoose = loose && attribute !== targetingKey;
  const every = [...new Set([...values, ...(isLoose ? likenesses(texts) : [])])];
  const groups = scalarTypes
    .map((type) => every.filter((value) => typeof value === type))
    .filter((group) => group.length > 0);
  if (groups.length === 0) return never;
  const listed = (op: "in" | "notIn", group: readonly Scalar[]): Condition[] =>
    inParts(group, longestList).map((part) => ({
      attribute,
      op,
      values: part,
      ...(ignoreCase && typeof group[0] === "string" && { ignoreCase }),
    }));
  return {
    yes: () => anyOf(groups.flatMap((group) => listed("in", group))),
    no: () =>
      anyOf([exists(attribute, false), ...groups.map((group) => allOf(listed("notIn", group)))]),
  };
};

/** A string either begins with "a" or doesn't; for any other type, both are unknown. */
const isText = (attribute: string): Test => {
  const begins = { attribute, op: "startsWith", values: ["a"] };
  return { yes: () => anyOf([begins, { not: begins }]), no: () => exists(attribute, false) };
};

/** Strings that start with, end with or contain one of the texts. Every string contains the empty one. */
export const textTest = (
  attribute: string,
  op: "startsWith" | "endsWith" | "contains",
  texts: readonly string[],
  ignoreCase = false,
): Test => {
  if (texts.some((text) => text === "")) return isText(attribute);
  return some(
    inParts(texts, mostTexts).map((values) =>
      leaf({ attribute, op, values, ...(ignoreCase && { ignoreCase }) }),
    ),
  );
};

export type Order = "lt" | "lte" | "gt" | "gte";

const holds: Readonly<Record<Order, (one: number, other: number) => boolean>> = {
  lt: (one, other) => one < other,
  lte: (one, other) => one <= other,
  gt: (one, other) => one > other,
  gte: (one, other) => one >= other,
};

interface NumberOptions {
  /** Converts strings to numbers. */
  readonly fromText?: boolean;
  /** The product treats a missing attribute as zero. */
  readonly missingIsZero?: boolean;
}

export const numberTest = (
  attribute: string,
  op: Order,
  value: number,
  { fromText = false, missingIsZero = false }: NumberOptions = {},
): Test =>
  leaf(
    { attribute, op, value, ...(fromText && { as: "number" as const }) },
    { missing: missingIsZero && holds[op](0, value) },
  );

export type VersionOrder = "Eq" | "Lt" | "Lte" | "Gt" | "Gte";

export const versionTest = (
  attribute: string,
  order: VersionOrder,
  version: unknown,
  missing: Missing = {},
): Test => {
  const value = String(version).trim();
  if (parseVersion(value) === undefined) {
    throw new CannotTranslate(`compares with ${value}, which is not a semantic version`);
  }
  return leaf({ attribute, op: `semver${order}`, value }, missing);
};

/** A time in Halyard's format, from milliseconds, a day, or a string with a zone. */
export const momentFrom = (value: unknown): string => {
  const date = new Date(Number.isSafeInteger(value) ? (value as number) : Number.NaN);
  if (!Number.isNaN(date.getTime())) return momentFrom(date.toISOString());
  const text = String(value).trim();
  const whole = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text;
  if (parseMoment(whole) !== undefined) return whole;
  throw new CannotTranslate(`compares with ${text}, which is not a time with a zone`);
};

export const momentTest = (attribute: string, op: "before" | "after", value: unknown): Test =>
  leaf({ attribute, op, value: momentFrom(value) });

/** At that time, or on this side of it. */
export const momentOrEqualTest = (
  attribute: string,
  op: "before" | "after",
  value: unknown,
): Test => {
  const other = { attribute, op: op === "before" ? "after" : "before", value: momentFrom(value) };
  return { yes: () => ({ not: other }), no: () => anyOf([exists(attribute, false), other]) };
};

/** Tests of one attribute for different types. Other types are unknown, so a single `no` decides. */
export const eitherType = (tests: readonly Test[]): Test => ({
  ...some(tests),
  no: () => anyOf(tests.map(({ no }) => no())),
});

/** Clears the bits after the prefix, as other products do. */
const networkFrom = (text: string): string | undefined => {
  const [address = "", prefix] = text.split("/", 2);
  const whole = prefix ?? (address.includes(":") ? "128" : "32");
  const exact = `${address}/${whole}`;
  if (parseNetwork(exact) !== undefined) return exact;
  const numbers = address.split(".").map(Number);
  const bits = Number(whole);
  if (numbers.length !== 4 || parseNetwork(`${address}/32`) === undefined) return undefined;
  if (!Number.isInteger(bits) || bits < 0 || bits > 32) return undefined;
  const masked = numbers.map((number, index) => {
    const kept = Math.min(8, Math.max(0, bits - 8 * index));
    return number & (0xff << (8 - kept)) & 0xff;
  });
  return `${masked.join(".")}/${bits}`;
};

export const networkTest = (attribute: string, texts: readonly string[]): Test => {
  const networks = texts.map((text) => {
    const network = networkFrom(text.trim());
    if (network === undefined) throw new CannotTranslate(`has an invalid network, ${text}`);
    return network;
  });
  return some(
    inParts(networks, mostTexts).map((values) => leaf({ attribute, op: "inCidr", values })),
  );
};

/** Whether the value is true in JavaScript. */
export const truthy = (attribute: string): Test => {
  const isFalsy = some([
    opposite(isSet(attribute)),
    ...[false, "", 0].map((value) => equals(attribute, [value])),
  ]);
  const isOther = (value: Scalar): Logic => ({ attribute, op: "notIn", values: [value] });
  return { yes: () => anyOf([false, "", 0].map(isOther)), no: isFalsy.yes };
};

/** The attribute for a path: a literal name, or a JSON Pointer for a nested field. */
export const pathTo = (names: readonly string[]): string => {
  const [only = ""] = names;
  if (names.length === 1 && !only.startsWith("/")) return only;
  return `/${names.map((name) => name.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
};
