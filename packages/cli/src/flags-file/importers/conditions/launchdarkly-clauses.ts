// Clauses of LaunchDarkly. A clause never matches if its attribute is missing, even if it is negated.
import { parseVersion } from "@halyard/core/targeting/conditions/semver";
import { type Fields, fieldsOf, listOf, textOf } from "../../loose-values.ts";
import {
  type Expression,
  isScalar,
  notAList,
  type Operator,
  type Operators,
  operatorsFor,
  plainVersionTest,
  translate,
} from "../translate/conditions.ts";
import {
  eitherType,
  equals,
  isSet,
  listTypesOf,
  momentTest,
  numberTest,
  pathTo,
  targetingKey,
  textTest,
  type VersionOrder,
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

/** The attribute of a context kind: a user is the context itself, other kinds are fields of it. */
export const attributeOf = (name: string, kind: unknown): string => {
  // Old rules have no context kind; LaunchDarkly then reads the name literally.
  const isPath = name.startsWith("/") && textOf(kind) !== undefined;
  const steps = isPath
    ? name
        .slice(1)
        .split("/")
        .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    : [name];
  const isUser = textOf(kind) === undefined || kind === "user";
  if (isUser) return name === "key" || name === "/key" ? targetingKey : pathTo(steps);
  return pathTo([String(kind), ...steps]);
};

/** A context of any kind always has a key. */
const isOfKind = (kind: unknown): Test => isSet(attributeOf("key", kind));

/** Completes missing parts with zeros. A leading v is not valid. */
const versionFrom = (value: unknown): string | undefined => {
  const [whole, , minor, patch] = /^(\d+)(\.\d+)?(\.\d+)?/.exec(String(value).trim()) ?? [];
  if (typeof value !== "string" || whole === undefined) return undefined;
  const numbers = `${whole}${minor === undefined ? ".0" : ""}${patch === undefined ? ".0" : ""}`;
  const version = `${numbers}${value.trim().slice(whole.length)}`;
  return parseVersion(version) === undefined ? undefined : version;
};

const readVersion = (attribute: string, order: VersionOrder, value: unknown): Test => {
  const version = versionFrom(value);
  return version === undefined ? never : plainVersionTest(attribute, order, version);
};

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[-+]\d\d(:\d\d)?)/;

/** Times can be milliseconds or strings, in the clause and in the context. */
const readDate = (attribute: string, op: "before" | "after", value: unknown): Test => {
  const isTime = typeof value === "string" && timePattern.test(value);
  const moment = isTime ? Date.parse(value) : value;
  if (typeof moment !== "number" || Number.isNaN(moment)) return never;
  const either = eitherType([
    momentTest(attribute, op, moment),
    numberTest(attribute, op === "before" ? "lt" : "gt", moment),
  ]);
  return exactIf(either, attribute, "milliseconds or a time such as 2026-11-14T12:00:00Z");
};

type Values = readonly unknown[];

/** Matches if any of the values does. */
const forAny =
  (operator: Operator<unknown>): Operator<Values> =>
  (attribute, values) =>
    some(values.map((value) => operator(attribute, value)));

const operators: Operators<Values> = {
  in(attribute, values) {
    const scalars = values.filter(isScalar);
    if (scalars.length < values.length) {
      throw new CannotTranslate("compares with a value that is not a string, number or boolean");
    }
    return exactIf(equals(attribute, scalars), attribute, { no: listTypesOf(scalars) });
  },
  // LaunchDarkly checks each element of a list with every operator; Halyard does so only with `in`.
  ...operatorsFor(
    { startsWith: "startsWith", endsWith: "endsWith", contains: "contains" },
    (op) => (attribute, values) => {
      const texts = values.filter((value) => typeof value === "string");
      return exactIf(textTest(attribute, op, texts), attribute, { yes: notAList, no: "a string" });
    },
  ),
  ...operatorsFor(
    { lessThan: "lt", lessThanOrEqual: "lte", greaterThan: "gt", greaterThanOrEqual: "gte" },
    (order) => (attribute, values) => {
      const numbers = values.filter((value) => typeof value === "number");
      const test = some(numbers.map((value) => numberTest(attribute, order, value)));
      return exactIf(test, attribute, { yes: notAList, no: "a number" });
    },
  ),
  ...operatorsFor({ semVerEqual: "Eq", semVerLessThan: "Lt", semVerGreaterThan: "Gt" }, (order) =>
    forAny((attribute, value) => readVersion(attribute, order, value)),
  ),
  ...operatorsFor({ before: "before", after: "after" }, (op) =>
    forAny((attribute, value) => readDate(attribute, op, value)),
  ),
};

/** A context is anonymous only if it sets `anonymous`. */
const anonymousTest = (attribute: string, kind: unknown, values: readonly unknown[]): Test => {
  const named = values.filter((value) => typeof value === "boolean");
  const among = equals(attribute, named);
  return named.includes(false)
    ? some([among, every([opposite(isSet(attribute)), isOfKind(kind)])])
    : among;
};

export interface Clauses {
  readonly read: (clauses: unknown) => Test;
  /** The context kinds other than users that the clauses use. */
  readonly kinds: Set<string>;
  /** Whether a clause may match a context without a user. */
  readonly mayMatchOthers: () => boolean;
}

/** Returns a reader of clauses. `segmentOf` returns the membership test of a segment. */
export const clauseReader = (segmentOf: (key: string) => Test): Clauses => {
  const kinds = new Set<string>();
  let mayMatchOthers = false;
  const use = (kind: string | undefined) => {
    if (kind !== undefined && kind !== "user") kinds.add(kind);
  };
  const readOne = (clause: Fields): Expression<Values> => {
    const values = listOf(clause.values);
    const operator = String(clause.op);
    const negated = clause.negate === true;
    const inverted = (one: Expression<Values>) => (negated ? { not: one } : one);
    if (operator === "segmentMatch") {
      mayMatchOthers ||= negated;
      return inverted({ any: values.map((key) => attempt(() => segmentOf(String(key)))) });
    }
    const name = textOf(clause.attribute) ?? "";
    if (name === "kind") {
      mayMatchOthers = true;
      if (operator !== "in") return impossible(`compares context kinds (${operator})`);
      for (const value of values) use(textOf(value));
      return inverted({ any: values.map(isOfKind) });
    }
    const kind = textOf(clause.contextKind);
    use(kind);
    const attribute = attributeOf(name, kind);
    if (name === "anonymous" && operator === "in") {
      const others = [true, false].filter((value) => !values.includes(value));
      return anonymousTest(attribute, kind, negated ? others : values);
    }
    return { attribute, operator, value: values, negated };
  };
  const read = (clauses: unknown): Test =>
    translate({ all: listOf(clauses).map(fieldsOf).map(readOne) }, operators);
  return { read, kinds, mayMatchOthers: () => mayMatchOthers || kinds.size > 0 };
};
