// Conditions of GrowthBook, in the manner of MongoDB. A missing attribute is null, which is zero among numbers.

import { parseMoment } from "@halyard/core/targeting/conditions/moment";
import type { Scalar } from "@halyard/core/targeting/conditions/operators";
import { type Fields, fieldsOf, isFields, listOf } from "../../loose-values.ts";
import {
  equals,
  isSet,
  momentOrEqualTest,
  momentTest,
  numberTest,
  type Order,
  pathTo,
  targetingKey,
  type VersionOrder,
  versionTest,
} from "../translate/leaves.ts";
import {
  attempt,
  CannotTranslate,
  every,
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

/** Null stands for a missing attribute. */
const oneOf = (attribute: string, values: readonly unknown[], ignoreCase = false): Test => {
  const scalars = values.filter(isScalar);
  if (!values.every((value) => value === null || isScalar(value))) {
    throw new CannotTranslate("compares with a list or an object");
  }
  const among = equals(attribute, scalars, { ignoreCase });
  return values.includes(null) ? some([opposite(isSet(attribute)), among]) : among;
};

const orders: Readonly<Record<string, Order>> = { $lt: "lt", $lte: "lte", $gt: "gt", $gte: "gte" };

const readOrder = (attribute: string, operator: string, value: unknown): Test => {
  const order = orders[operator] ?? "lt";
  if (typeof value === "number") {
    return numberTest(attribute, order, value, { fromText: true, missingIsZero: true });
  }
  if (typeof value !== "string" || parseMoment(value) === undefined) {
    throw new CannotTranslate(`compares the order of texts (${operator})`);
  }
  const side = order.startsWith("l") ? "before" : "after";
  return order.endsWith("e")
    ? momentOrEqualTest(attribute, side, value)
    : momentTest(attribute, side, value);
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
  const readGroup = (id: string): Test => {
    const group = fieldsOf(groups[id]);
    if (typeof group.attributeKey === "string" && Array.isArray(group.values)) {
      return groupTest(id, attributeOf(group.attributeKey));
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
    if (version !== undefined)
      return versionTest(attribute, version, value, { missing: missing === true });
    switch (operator) {
      case "$eq":
        return oneOf(attribute, [value]);
      case "$ne":
        return opposite(oneOf(attribute, [value]));
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
        return opposite(versionTest(attribute, "Eq", value));
      case "$regex":
      case "$regexi":
        throw new CannotTranslate(`has a regular expression (${operator})`);
      default:
        throw new CannotTranslate(`has the operator ${operator}`);
    }
  };
  const readValue = (attribute: string, value: unknown): Test => {
    if (value === null) return opposite(isSet(attribute));
    // Texts and numbers are converted here, unlike with $eq.
    if (typeof value === "string") return equals(attribute, [value], { loose: true });
    if (typeof value === "number") {
      const among = equals(attribute, [value, String(value)]);
      return value === 0 ? some([opposite(isSet(attribute)), among]) : among;
    }
    if (typeof value === "boolean") return equals(attribute, [value]);
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
          if (name === "$savedGroup") return readGroup(String(fieldsOf(value).id));
          if (name.startsWith("$")) throw new CannotTranslate(`has the operator ${name}`);
          return readValue(attributeOf(name), value);
        }),
      ),
    );
  };
  return { read: readAll };
};
