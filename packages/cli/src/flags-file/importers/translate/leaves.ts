// Tests of one attribute, with what the other product says of someone who does not have it.
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

/** The one whom a flag is evaluated for; other products have other names for it. */
export const targetingKey = "targetingKey";

const longestList = 1_000;
const mostTexts = 100;

export const exists = (attribute: string, value = true): Condition => ({
  attribute,
  op: "exists",
  value,
});

/** For a rule that has to have a condition. */
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

/** True where the condition is false, unknown where it is unknown. */
const inverse = (condition: AttributeCondition): Condition => {
  const op = inverses[condition.op];
  return op === undefined ? { not: condition } : { ...condition, op };
};

/** What the other product says of someone without the attribute. */
interface Missing {
  readonly missing?: boolean;
}

/** A condition on an attribute; unless said otherwise, it does not match someone who does not have it. */
export const leaf = (condition: AttributeCondition, { missing = false }: Missing = {}): Test => {
  const isMissing = exists(condition.attribute, false);
  return {
    yes: () => anyOf([...(missing ? [isMissing] : []), condition]),
    no: () => anyOf([...(missing ? [] : [isMissing]), inverse(condition)]),
  };
};

/** Those who have the attribute and do not match; nobody without it. */
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

/** The type that an attribute must have to be compared with these values, if the product treats other types differently. */
export const typesOf = (values: readonly Scalar[]): string => {
  const has = (type: string) => values.some((value) => typeof value === type);
  const names = [
    ...(has("string") ? ["a string"] : []),
    ...(has("number") ? ["a number"] : []),
    ...(has("boolean") ? ["true or false"] : []),
  ];
  return names.join(" or ");
};

/** The same where a list matches by each of its elements. */
export const listTypesOf = (values: readonly Scalar[]): string =>
  ["string", "number", "boolean"]
    .filter((type) => values.some((value) => typeof value === type))
    .map((type) => `a ${type} or a list of ${type}s`)
    .join(" or ");

interface Equality {
  readonly ignoreCase?: boolean;
  /** The product compares texts, so that 7 is "7" and true is "true". */
  readonly loose?: boolean;
}

/** Texts that other types stand for as well. */
const likenesses = (texts: readonly string[]): Scalar[] => [
  ...texts.flatMap((text) => {
    const number = numberFrom(text);
    return number === undefined || String(number) !== text ? [] : [number];
  }),
  ...texts.filter((text) => text === "true" || text === "false").map((text) => text === "true"),
];

/** All matching values if the product compares strings: includes numbers and booleans with the same string form. */
export const withLikenesses = (attribute: string, texts: readonly string[]): readonly Scalar[] =>
  attribute === targetingKey ? texts : [...texts, ...likenesses(texts)];

/** One of these values. They may be of several types, of which an attribute has one. */
export const equals = (
  attribute: string,
  values: readonly Scalar[],
  { ignoreCase = false, loose = false }: Equality = {},
): Test => {
  const texts = values.filter((value) => typeof value === "string");
  const isLoose = loose && attribute !== targetingKey;
  const every = [...new Set([...values, ...(isLoose ? likenesses(texts) : [])])];
  const groups = ["string", "number", "boolean"]
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

/** Of a text: begins with, ends with or contains one of these. An empty one is in every text. */
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
  /** A text is read as a number. */
  readonly fromText?: boolean;
  /** The product takes a missing attribute for zero. */
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

/** A moment as Halyard writes it: from milliseconds, a day, or a text with a zone. */
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

/** At that moment or on this side of it. */
export const momentOrEqualTest = (
  attribute: string,
  op: "before" | "after",
  value: unknown,
): Test => {
  const other = { attribute, op: op === "before" ? "after" : "before", value: momentFrom(value) };
  return { yes: () => ({ not: other }), no: () => anyOf([exists(attribute, false), other]) };
};

/** Tests of one attribute, each for a different type. An attribute of another type is unknown, so a single `no` decides. */
export const eitherType = (tests: readonly Test[]): Test => ({
  ...some(tests),
  no: () => anyOf(tests.map(({ no }) => no())),
});

/** With the bits behind the prefix taken away, as the other products read it. */
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
    if (network === undefined) throw new CannotTranslate(`names the network ${text}`);
    return network;
  });
  return some(
    inParts(networks, mostTexts).map((values) => leaf({ attribute, op: "inCidr", values })),
  );
};

/** Whether JavaScript would take it for true. */
export const truthy = (attribute: string): Test => {
  const isFalsy = some([
    opposite(isSet(attribute)),
    ...[false, "", 0].map((value) => equals(attribute, [value])),
  ]);
  const isOther = (value: Scalar): Logic => ({ attribute, op: "notIn", values: [value] });
  return { yes: () => anyOf([false, "", 0].map(isOther)), no: isFalsy.yes };
};

/** An attribute by its path: a literal name, or a JSON Pointer when it goes deeper. */
export const pathTo = (names: readonly string[]): string => {
  const [only = ""] = names;
  if (names.length === 1 && !only.startsWith("/")) return only;
  return `/${names.map((name) => name.replaceAll("~", "~0").replaceAll("/", "~1")).join("/")}`;
};
