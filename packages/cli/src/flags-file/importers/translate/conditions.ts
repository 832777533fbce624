// Translates conditions of other products. Each product's reader defines the structure of its conditions and a table of
// operators; nesting, negation and unknown operators are handled here.
import type { Scalar } from "@halyard/core/targeting/conditions/operators";
import { writtenAs } from "../../loose-values.ts";
import { numberTest, oppositeWhenSet, textTest, type VersionOrder, versionTest } from "./leaves.ts";
import { attempt, CannotTranslate, every, exactIf, opposite, some, type Test } from "./logic.ts";

/** Returns the test of an attribute for one operator. */
export type Operator<Value> = (attribute: string, value: Value) => Test;
export type Operators<Value> = Readonly<Record<string, Operator<Value>>>;

/** The structure of a condition, before its operators are translated. */
export type Expression<Value> =
  | { readonly all: readonly Expression<Value>[] }
  | { readonly any: readonly Expression<Value>[] }
  | { readonly not: Expression<Value> }
  | Comparison<Value>
  | Test;

export interface Comparison<Value> {
  readonly attribute: string;
  readonly operator: string;
  readonly value: Value;
  /** The opposite, but only for contexts that have the attribute. */
  readonly negated?: boolean;
}

export const translate = <Value>(
  expression: Expression<Value>,
  operators: Operators<Value>,
): Test => {
  const walk = (one: Expression<Value>): Test => {
    if ("all" in one) return every(one.all.map(walk));
    if ("any" in one) return some(one.any.map(walk));
    if ("not" in one) return opposite(walk(one.not));
    if (!("attribute" in one)) return one;
    const { attribute, operator, value, negated = false } = one;
    const test = attempt(() => operatorNamed(operator, operators)(attribute, value));
    return negated ? oppositeWhenSet(attribute, test) : test;
  };
  return walk(expression);
};

const operatorNamed = <Value>(name: string, operators: Operators<Value>): Operator<Value> => {
  const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
  if (operator === undefined) throw unknownOperator(name);
  return operator;
};

export const unknownOperator = (name: string): CannotTranslate =>
  new CannotTranslate(
    /regex|^matches$/i.test(name)
      ? `has a regular expression (${name})`
      : `has the operator ${name}`,
  );

/** Makes similar operators, which differ for example in the order they compare, with the product's names. */
export const operatorsFor = <const Kind, Value>(
  names: Readonly<Record<string, Kind>>,
  operatorOf: (kind: Kind, name: string) => Operator<Value>,
): Operators<Value> =>
  Object.fromEntries(
    Object.entries(names).map(([name, kind]) => [name, operatorOf(kind, name)] as const),
  );

/** Makes operators exact only for attributes of this kind. */
export const onlyFor = <Value>(kind: string, operators: Operators<Value>): Operators<Value> =>
  operatorsFor(
    operators,
    (operator) => (attribute, value) => exactIf(operator(attribute, value), attribute, kind),
  );

/** The opposite of an operator, but only for contexts that have the attribute. */
export const negated =
  <Value>(operator: Operator<Value>): Operator<Value> =>
  (attribute, value) =>
    oppositeWhenSet(attribute, operator(attribute, value));

export const aNumber = "a number, or a string such as 12.5";
export const aVersion = "a version such as 2.5.0";
export const notAList = "not a list";

export const isScalar = (value: unknown): value is Scalar =>
  ["string", "number", "boolean"].includes(typeof value);

export const numberOf = (value: unknown): number => {
  const text = writtenAs(value);
  const number = Number(text);
  if (text.trim() !== "" && Number.isFinite(number)) return number;
  throw new CannotTranslate(`compares with ${text || "an empty value"}, which is not a number`);
};

/** Matches the number, or its string form. */
export const sameNumber = (attribute: string, value: number): Test =>
  every([
    numberTest(attribute, "gte", value, { fromText: true }),
    numberTest(attribute, "lte", value, { fromText: true }),
  ]);

/** The products ignore case in every alphabet, but Halyard only for A to Z. */
export const checkCase = (texts: readonly unknown[]): void => {
  if (texts.some((text) => /[^\0-\x7f]/.test(String(text)))) {
    throw new CannotTranslate("ignores the case of letters other than A to Z");
  }
};

/** The version without prefixes that some products ignore; undefined if it has fewer than three parts. */
export const wholeVersion = (value: unknown): string | undefined =>
  /^[v=\s]*(\d+\.\d+\.\d+.*)$/s.exec(writtenAs(value))?.[1];

/** For products that don't accept attributes with a leading v. */
export const plainVersionTest = (attribute: string, order: VersionOrder, version: string): Test =>
  exactIf(
    every([
      versionTest(attribute, order, version),
      oppositeWhenSet(attribute, textTest(attribute, "startsWith", ["v", "V"])),
    ]),
    attribute,
    aVersion,
  );
