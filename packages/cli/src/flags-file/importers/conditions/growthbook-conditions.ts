// Conditions of GrowthBook, in the manner of MongoDB. A missing attribute is null, which is zero among numbers.

import { parseMoment } from "@halyard/core/targeting/conditions/moment";
import type { Scalar } from "@halyard/core/targeting/conditions/operators";
import { type Fields, fieldsOf, isFields, listOf } from "../../loose-values.ts";
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
  every,
  exactIf,
  impossible,
  opposite,
  some,
  type Test,
} from "../translate/logic.ts";

/** GrowthBook knows its users by `id`. */
export const attributeOf = (path: string): string =>
  path === "id" ? targetingKey : pathTo(path.split("."));

const isScalar = (value: unknown): value is Scalar =>
  ["string", "number", "boolean"].includes(typeof value);

const bothSides = (is: string) => ({ yes: is, no: is });
const notAList = "not a list";

/** Null stands for a missing attribute. */
const oneOf = (attribute: string, values: readonly unknown[], ignoreCase = false): Test => {
  const scalars = values.filter(isScalar);
  if (!values.every((value) => value === null || isScalar(value))) {
    throw new CannotTranslate("compares with a list or an object");
  }
  if (ignoreCase && scalars.some((value) => /[^\0-\x7f]/.test(String(value)))) {
    throw new CannotTranslate("ignores the case of letters other than A to Z");
  }
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

const aNumber = "a number, or a string such as 12.5";

/** Unlike with $eq, strings and numbers are converted here. */
const isLike = (attribute: string, value: Scalar): Test => {
  if (typeof value === "boolean") {
    return exactIf(equals(attribute, [value]), attribute, bothSides("true or false"));
  }
  const isMissing = opposite(isSet(attribute));
  if (typeof value === "number") {
    const order = (op: Order) => numberTest(attribute, op, value, { fromText: true });
    const is = every([order("gte"), order("lte")]);
    const test = value === 0 ? some([isMissing, is]) : is;
    return exactIf(test, attribute, bothSides(aNumber));
  }
  const is = equals(attribute, [value], { loose: true });
  const no = typesOf(withLikenesses(attribute, [value]));
  return exactIf(value === "null" ? some([isMissing, is]) : is, attribute, { yes: notAList, no });
};

const orders: Readonly<Record<string, Order>> = { $lt: "lt", $lte: "lte", $gt: "gt", $gte: "gte" };

const readOrder = (attribute: string, operator: string, value: unknown): Test => {
  const order = orders[operator] ?? "lt";
  if (typeof value === "number") {
    const test = numberTest(attribute, order, value, { fromText: true, missingIsZero: true });
    return exactIf(test, attribute, bothSides(aNumber));
  }
  // Strings are compared by character, which sorts times correctly only if all have the same format.
  const [, thousandths] = /^[^.]*?(\.\d{3})?Z$/.exec(String(value)) ?? [undefined, null];
  if (typeof value !== "string" || parseMoment(value) === undefined || thousandths === null) {
    throw new CannotTranslate(`compares the order of texts (${operator})`);
  }
  const side = order.startsWith("l") ? "before" : "after";
  const test = order.endsWith("e")
    ? momentOrEqualTest(attribute, side, value)
    : momentTest(attribute, side, value);
  const example = `2026-11-14T12:00:00${thousandths === undefined ? "" : ".000"}Z`;
  return exactIf(test, attribute, bothSides(`a time such as ${example}`));
};

/** Parts of a version are compared one by one, so a version with fewer than three parts is older. */
const readVersion = (
  attribute: string,
  order: VersionOrder,
  value: unknown,
  missing = false,
): Test => {
  if (!/^v?\d+\.\d+\.\d+/.test(String(value))) {
    throw new CannotTranslate(`compares with ${String(value)}, which is not a whole version`);
  }
  const test = versionTest(attribute, order, value, { missing });
  return exactIf(test, attribute, bothSides("a version such as 2.5.0"));
};

/** A missing version is the lowest of all. */
const versions: Readonly<Record<string, readonly [VersionOrder, boolean]>> = {
  $veq: ["Eq", false],
  $vgt: ["Gt", false],
  $vgte: ["Gte", false],
  $vlt: ["Lt", true],
  $vlte: ["Lte", true],
};

export interface ConditionReader {
  readonly read: (condition: unknown) => Test;
}

/** Reads conditions; `groups` are the saved groups by id, `groupTest` the test that an attribute is in one. */
export const conditionReader = (
  groups: Fields,
  groupTest: (id: string, attribute: string) => Test,
): ConditionReader => {
  const open = new Set<string>();
  /** A group by itself: a list of values of its own attribute, or a condition. */
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
    const test = readAll(typeof text === "string" ? JSON.parse(text) : text);
    open.delete(id);
    return test;
  };
  const readOperator = (attribute: string, operator: string, value: unknown): Test => {
    if (operator in orders) return readOrder(attribute, operator, value);
    const [version, missing] = versions[operator] ?? [];
    if (version !== undefined) return readVersion(attribute, version, value, missing);
    switch (operator) {
      case "$eq":
        return isValue(attribute, value);
      case "$ne":
        return opposite(isValue(attribute, value));
      case "$in":
      case "$ini":
        return oneOf(attribute, listOf(value), operator === "$ini");
      case "$nin":
      case "$nini":
        return opposite(oneOf(attribute, listOf(value), operator === "$nini"));
      case "$inGroup":
        return groupTest(String(value), attribute);
      case "$notInGroup":
        return opposite(groupTest(String(value), attribute));
      case "$exists":
        return value ? isSet(attribute) : opposite(isSet(attribute));
      case "$not":
        return opposite(readValue(attribute, value));
      case "$vne":
        return opposite(readVersion(attribute, "Eq", value));
      case "$regex":
      case "$regexi":
        throw new CannotTranslate(`has a regular expression (${operator})`);
      default:
        throw new CannotTranslate(`has the operator ${operator}`);
    }
  };
  const readValue = (attribute: string, value: unknown): Test => {
    if (value === null) return opposite(isSet(attribute));
    if (isScalar(value)) return isLike(attribute, value);
    const operators = Object.entries(fieldsOf(value));
    if (operators.length === 0 || !operators.every(([name]) => name.startsWith("$"))) {
      throw new CannotTranslate("compares with a list or an object");
    }
    return every(
      operators.map(([name, given]) => attempt(() => readOperator(attribute, name, given))),
    );
  };
  const readAll = (condition: unknown): Test => {
    if (!isFields(condition)) return impossible("has a condition that cannot be read");
    return every(
      Object.entries(condition).map(([name, value]) =>
        attempt(() => {
          const list = () => listOf(value).map(readAll);
          if (name === "$and") return every(list());
          // GrowthBook takes an empty list of alternatives for true.
          if (name === "$or") return list().length === 0 ? every([]) : some(list());
          if (name === "$nor") return opposite(list().length === 0 ? every([]) : some(list()));
          if (name === "$not") return opposite(readAll(value));
          if (name === "$savedGroup") {
            const { id, attributeKey } = fieldsOf(value);
            return readGroup(String(id), attributeKey);
          }
          if (name.startsWith("$")) throw new CannotTranslate(`has the operator ${name}`);
          return readValue(attributeOf(name), value);
        }),
      ),
    );
  };
  return { read: readAll };
};
