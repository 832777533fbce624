// Clauses of LaunchDarkly. A clause never matches without its attribute, even if it is negated.
import type { Scalar } from "@halyard/core/targeting/conditions/operators";
import { parseVersion } from "@halyard/core/targeting/conditions/semver";
import { type Fields, fieldsOf, listOf, textOf } from "../../loose-values.ts";
import {
  eitherType,
  equals,
  isSet,
  listTypesOf,
  momentTest,
  numberTest,
  type Order,
  oppositeWhenSet,
  pathTo,
  targetingKey,
  textTest,
  type VersionOrder,
  versionTest,
} from "../translate/leaves.ts";
import {
  attempt,
  CannotTranslate,
  every,
  exactIf,
  never,
  opposite,
  some,
  type Test,
} from "../translate/logic.ts";

/** The attribute of a kind of context: users are the context itself, other kinds a member of it. */
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

/** A context of a kind always has a key. */
const isOfKind = (kind: unknown): Test => isSet(attributeOf("key", kind));

const isScalar = (value: unknown): value is Scalar =>
  ["string", "number", "boolean"].includes(typeof value);

const orders: Readonly<Record<string, Order>> = {
  lessThan: "lt",
  lessThanOrEqual: "lte",
  greaterThan: "gt",
  greaterThanOrEqual: "gte",
};

const versions: Readonly<Record<string, VersionOrder>> = {
  semVerEqual: "Eq",
  semVerLessThan: "Lt",
  semVerGreaterThan: "Gt",
};

const texts = ["startsWith", "endsWith", "contains"] as const;

/** LaunchDarkly checks each element of a list with every operator; Halyard does so only with `in`. */
const notAList = "not a list";

const readIn = (attribute: string, values: readonly unknown[]): Test => {
  const scalars = values.filter(isScalar);
  if (scalars.length < values.length) {
    throw new CannotTranslate("compares with a value that is neither text, number nor boolean");
  }
  return exactIf(equals(attribute, scalars), attribute, { no: listTypesOf(scalars) });
};

/** Missing parts are zero, and a leading v makes it invalid. */
const versionFrom = (value: unknown): string | undefined => {
  const [whole, , minor, patch] = /^(\d+)(\.\d+)?(\.\d+)?/.exec(String(value).trim()) ?? [];
  if (typeof value !== "string" || whole === undefined) return undefined;
  const numbers = `${whole}${minor === undefined ? ".0" : ""}${patch === undefined ? ".0" : ""}`;
  const version = `${numbers}${value.trim().slice(whole.length)}`;
  return parseVersion(version) === undefined ? undefined : version;
};

/** LaunchDarkly doesn't accept versions with a leading v. */
const readVersion = (attribute: string, order: VersionOrder, value: unknown): Test => {
  const version = versionFrom(value);
  if (version === undefined) return never;
  const expected = "a version such as 2.5.0";
  return exactIf(
    every([
      versionTest(attribute, order, version),
      oppositeWhenSet(attribute, textTest(attribute, "startsWith", ["v", "V"])),
    ]),
    attribute,
    { yes: expected, no: expected },
  );
};

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[-+]\d\d(:\d\d)?)/;

/** Dates are milliseconds or times as text, on both sides. */
const readDate = (attribute: string, op: "before" | "after", value: unknown): Test => {
  const isTime = typeof value === "string" && timePattern.test(value);
  const moment = isTime ? Date.parse(value) : value;
  if (typeof moment !== "number" || Number.isNaN(moment)) return never;
  const expected = "milliseconds or a time such as 2026-11-14T12:00:00Z";
  return exactIf(
    eitherType([
      momentTest(attribute, op, moment),
      numberTest(attribute, op === "before" ? "lt" : "gt", moment),
    ]),
    attribute,
    { yes: expected, no: expected },
  );
};

const readValues = (attribute: string, op: string, values: readonly unknown[]): Test => {
  if (op === "in") return readIn(attribute, values);
  const text = texts.find((name) => name === op);
  if (text !== undefined) {
    const given = values.filter((value) => typeof value === "string");
    return exactIf(textTest(attribute, text, given), attribute, { yes: notAList, no: "a string" });
  }
  const order = orders[op];
  if (order !== undefined) {
    const numbers = values.filter((value) => typeof value === "number");
    const test = some(numbers.map((value) => numberTest(attribute, order, value)));
    return exactIf(test, attribute, { yes: notAList, no: "a number" });
  }
  const version = versions[op];
  if (version !== undefined)
    return some(values.map((value) => readVersion(attribute, version, value)));
  if (op === "before" || op === "after") {
    return some(values.map((value) => readDate(attribute, op, value)));
  }
  if (op === "matches") throw new CannotTranslate("has a regular expression (matches)");
  throw new CannotTranslate(`has the operator ${op}`);
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
  /** The kinds of contexts other than users that the clauses name. */
  readonly kinds: Set<string>;
  /** Whether a rule of these may match a context without a user. */
  readonly mayMatchOthers: () => boolean;
}

/** Reads clauses; `segmentOf` gives the test of a segment by its key. */
export const clauseReader = (segmentOf: (key: string) => Test): Clauses => {
  const kinds = new Set<string>();
  let mayMatchOthers = false;
  const use = (kind: string | undefined) => {
    if (kind !== undefined && kind !== "user") kinds.add(kind);
  };
  const readOne = (clause: Fields): Test => {
    const values = listOf(clause.values);
    const op = String(clause.op);
    const isNegated = clause.negate === true;
    if (op === "segmentMatch") {
      mayMatchOthers ||= isNegated;
      const inAny = some(values.map((key) => segmentOf(String(key))));
      return isNegated ? opposite(inAny) : inAny;
    }
    const name = textOf(clause.attribute) ?? "";
    if (name === "kind") {
      mayMatchOthers = true;
      if (op !== "in") throw new CannotTranslate(`compares kinds of contexts (${op})`);
      for (const value of values) use(textOf(value));
      const ofAny = some(values.map((value) => isOfKind(value)));
      return isNegated ? opposite(ofAny) : ofAny;
    }
    const kind = textOf(clause.contextKind);
    use(kind);
    const attribute = attributeOf(name, kind);
    const isAnonymous = name === "anonymous" && op === "in";
    if (isAnonymous) {
      const others = [true, false].filter((value) => !values.includes(value));
      return anonymousTest(attribute, kind, isNegated ? others : values);
    }
    const test = readValues(attribute, op, values);
    return isNegated ? oppositeWhenSet(attribute, test) : test;
  };
  const read = (clauses: unknown): Test =>
    every(listOf(clauses).map((clause) => attempt(() => readOne(fieldsOf(clause)))));
  return { read, kinds, mayMatchOthers: () => mayMatchOthers || kinds.size > 0 };
};
