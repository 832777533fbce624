// Conditions of GrowthBook, similar to MongoDB's. A missing attribute is null, which counts as zero in numeric comparisons.

import { parseMoment } from "@halyard/core/targeting/conditions/moment";
import type { Scalar } from "@halyard/core/targeting/conditions/operators";
import { type Fields, fieldsOf, isFields, listOf, parsedJson } from "../../loose-values.ts";
import {
  aNumber,
  aVersion,
  checkCase,
  type Expression,
  isScalar,
  notAList,
  type Operators,
  operatorsFor,
  sameNumber,
  translate,
  unknownOperator,
} from "../translate/conditions.ts";
import {
  equals,
  isSet,
  listTypesOf,
  momentOrEqualTest,
  momentTest,
  numberTest,
  type Order,
  pathTo,
  targetingKey,
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
  opposite,
  some,
  type Test,
} from "../translate/logic.ts";

/** In GrowthBook, `id` identifies users. */
export const attributeOf = (path: string): string =>
  path === "id" ? targetingKey : pathTo(path.split("."));

/** Null matches a missing attribute. */
const oneOf = (attribute: string, values: readonly unknown[], ignoreCase = false): Test => {
  const scalars = values.filter(isScalar);
  if (!values.every((value) => value === null || isScalar(value))) {
    throw new CannotTranslate("compares with a list or an object");
  }
  if (ignoreCase) checkCase(scalars);
  const among = equals(attribute, scalars, { ignoreCase });
  if (!values.includes(null)) {
    return exactIf(among, attribute, { no: listTypesOf(scalars) });
  }
  const test = some([opposite(isSet(attribute)), among]);
  return exactIf(test, attribute, { yes: notAList, no: typesOf(scalars) });
};

/** Unlike with `in`, a list doesn't match by its elements. */
const isValue = (attribute: string, value: unknown): Test => {
  if (value === null) return opposite(isSet(attribute));
  if (!isScalar(value)) throw new CannotTranslate("compares with a list or an object");
  return exactIf(equals(attribute, [value]), attribute, { yes: notAList, no: typesOf([value]) });
};

/** Unlike with $eq, strings and numbers are converted here. */
const isLike = (attribute: string, value: Scalar): Test => {
  if (typeof value === "boolean") {
    return exactIf(equals(attribute, [value]), attribute, "true or false");
  }
  const isMissing = opposite(isSet(attribute));
  if (typeof value === "number") {
    const is = sameNumber(attribute, value);
    return exactIf(value === 0 ? some([isMissing, is]) : is, attribute, aNumber);
  }
  const is = equals(attribute, [value], { loose: true });
  const no = typesOf(withLikenesses(attribute, [value]));
  return exactIf(value === "null" ? some([isMissing, is]) : is, attribute, { yes: notAList, no });
};

const readOrder = (attribute: string, order: Order, value: unknown): Test => {
  if (typeof value === "number") {
    const test = numberTest(attribute, order, value, { fromText: true, missingIsZero: true });
    return exactIf(test, attribute, aNumber);
  }
  // Strings are compared by character, which sorts times correctly only if all have the same format.
  const [, thousandths] = /^[^.]*?(\.\d{3})?Z$/.exec(String(value)) ?? [undefined, null];
  if (typeof value !== "string" || parseMoment(value) === undefined || thousandths === null) {
    throw new CannotTranslate("compares the order of strings");
  }
  const side = order.startsWith("l") ? "before" : "after";
  const test = order.endsWith("e")
    ? momentOrEqualTest(attribute, side, value)
    : momentTest(attribute, side, value);
  const example = `2026-11-14T12:00:00${thousandths === undefined ? "" : ".000"}Z`;
  return exactIf(test, attribute, `a time such as ${example}`);
};

/** Versions are compared part by part, so one with fewer than three parts is older. A missing version is the oldest. */
const readVersion = (attribute: string, order: VersionOrder, value: unknown): Test => {
  if (!/^v?\d+\.\d+\.\d+/.test(String(value))) {
    throw new CannotTranslate(`compares with ${String(value)}, which is not a complete version`);
  }
  const missing = order.startsWith("L");
  return exactIf(versionTest(attribute, order, value, { missing }), attribute, aVersion);
};

/** Negated operators. */
const opposites: Readonly<Record<string, string>> = {
  $ne: "$eq",
  $nin: "$in",
  $nini: "$ini",
  $notInGroup: "$inGroup",
  $vne: "$veq",
};

export type ConditionReader = (condition: unknown) => Test;

/** Returns a reader of conditions. `groups` are the saved groups by id; `groupTest` tests whether an attribute is in a group. */
export const conditionReader = (
  groups: Fields,
  groupTest: (id: string, attribute: string) => Test,
): ConditionReader => {
  const open = new Set<string>();
  /** A group used as a condition: a list of values of its own attribute, or a condition. */
  const readGroup = (id: string, attribute: unknown): Test => {
    const group = fieldsOf(groups[id]);
    const key = attribute ?? group.attributeKey;
    if (typeof key === "string" && Array.isArray(group.values)) {
      return groupTest(id, attributeOf(key));
    }
    const text = group.condition;
    if (text === undefined || open.has(id)) {
      return impossible(`uses the saved group ${id}, which is not in the file`);
    }
    open.add(id);
    const test = read(typeof text === "string" ? parsedJson(text) : text);
    open.delete(id);
    return test;
  };
  const operators: Operators<unknown> = {
    $eq: isValue,
    $in: (attribute, values) => oneOf(attribute, listOf(values)),
    $ini: (attribute, values) => oneOf(attribute, listOf(values), true),
    $inGroup: (attribute, id) => groupTest(String(id), attribute),
    $exists: (attribute, is) => (is ? isSet(attribute) : opposite(isSet(attribute))),
    ...operatorsFor(
      { $lt: "lt", $lte: "lte", $gt: "gt", $gte: "gte" },
      (order) => (attribute, value) => readOrder(attribute, order, value),
    ),
    ...operatorsFor(
      { $veq: "Eq", $vlt: "Lt", $vlte: "Lte", $vgt: "Gt", $vgte: "Gte" },
      (order) => (attribute, value) => readVersion(attribute, order, value),
    ),
  };
  const parseOperator = (attribute: string, name: string, value: unknown): Expression<unknown> => {
    if (name === "$not") return { not: parseValue(attribute, value) };
    const positive = Object.hasOwn(opposites, name) ? opposites[name] : undefined;
    return positive === undefined
      ? { attribute, operator: name, value }
      : { not: { attribute, operator: positive, value } };
  };
  const parseValue = (attribute: string, value: unknown): Expression<unknown> => {
    if (value === null) return opposite(isSet(attribute));
    if (isScalar(value)) return isLike(attribute, value);
    const given = Object.entries(fieldsOf(value));
    if (given.length === 0 || !given.every(([name]) => name.startsWith("$"))) {
      throw new CannotTranslate("compares with a list or an object");
    }
    return { all: given.map(([name, each]) => parseOperator(attribute, name, each)) };
  };
  // In GrowthBook, an empty list of alternatives is true.
  const parseAny = (list: readonly unknown[]): Expression<unknown> =>
    list.length === 0 ? { all: [] } : { any: list.map(parse) };
  const parseEntry = (name: string, value: unknown): Expression<unknown> => {
    switch (name) {
      case "$and":
        return { all: listOf(value).map(parse) };
      case "$or":
        return parseAny(listOf(value));
      case "$nor":
        return { not: parseAny(listOf(value)) };
      case "$not":
        return { not: parse(value) };
      case "$savedGroup": {
        const { id, attributeKey } = fieldsOf(value);
        return readGroup(String(id), attributeKey);
      }
      default:
        if (name.startsWith("$")) throw unknownOperator(name);
        return parseValue(attributeOf(name), value);
    }
  };
  const parse = (condition: unknown): Expression<unknown> => {
    if (!isFields(condition)) throw new CannotTranslate("has a condition that can't be read");
    return { all: Object.entries(condition).map(([name, value]) => parseEntry(name, value)) };
  };
  const read: ConditionReader = (condition) =>
    attempt(() => translate(parse(condition), operators));
  return read;
};
