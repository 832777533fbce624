// Clauses and segments of LaunchDarkly. Without the attribute a clause does not match, also a negated one.
import type { Scalar } from "@halyard/core/targeting/conditions/operators";
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../loose-values.ts";
import {
  equals,
  leaf,
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
  always,
  attempt,
  CannotTranslate,
  every,
  impossible,
  never,
  opposite,
  some,
  type Test,
  tryTo,
} from "../translate/logic.ts";
import type { SegmentBook } from "../translate/segments.ts";

/** The attribute of a kind of context: users are the context itself, other kinds a member of it. */
export const attributeOf = (name: string, kind: unknown): string => {
  const steps = name.startsWith("/")
    ? name
        .slice(1)
        .split("/")
        .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    : [name];
  const isUser = textOf(kind) === undefined || kind === "user";
  if (isUser) return name === "key" || name === "/key" ? targetingKey : pathTo(steps);
  return pathTo([String(kind), ...steps]);
};

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

const readValues = (attribute: string, op: string, values: readonly unknown[]): Test => {
  if (op === "in") {
    const scalars = values.filter(isScalar);
    if (scalars.length < values.length) {
      throw new CannotTranslate("compares with a value that is neither text, number nor boolean");
    }
    return equals(attribute, scalars);
  }
  const text = texts.find((name) => name === op);
  if (text !== undefined) {
    return textTest(
      attribute,
      text,
      values.filter((value) => typeof value === "string"),
    );
  }
  const order = orders[op];
  if (order !== undefined) {
    const numbers = values.filter((value) => typeof value === "number");
    return some(numbers.map((value) => numberTest(attribute, order, value)));
  }
  const version = versions[op];
  if (version !== undefined)
    return some(values.map((value) => versionTest(attribute, version, value)));
  if (op === "before" || op === "after") {
    return some(values.map((value) => momentTest(attribute, op, value)));
  }
  if (op === "matches") throw new CannotTranslate("has a regular expression (matches)");
  throw new CannotTranslate(`has the operator ${op}`);
};

/** Whoever does not say that they are anonymous is not. */
const anonymousTest = (values: readonly unknown[], isNegated: boolean): Test => {
  const named = values.filter((value) => typeof value === "boolean");
  if (named.length === 0) return isNegated ? always : never;
  const condition = { attribute: "anonymous", op: "in", values: named };
  const test = leaf(condition, { missing: named.includes(false) });
  return isNegated ? opposite(test) : test;
};

export interface Clauses {
  readonly read: (clauses: unknown) => Test;
  /** The kinds of contexts that were asked for besides users. */
  readonly kinds: Set<string>;
}

/** Reads clauses; `segmentOf` gives the test of a segment by its key. */
export const clauseReader = (segmentOf: (key: string) => Test): Clauses => {
  const kinds = new Set<string>();
  const readOne = (clause: Fields): Test => {
    const values = listOf(clause.values);
    const op = String(clause.op);
    const isNegated = clause.negate === true;
    if (op === "segmentMatch") {
      const inAny = some(values.map((key) => segmentOf(String(key))));
      return isNegated ? opposite(inAny) : inAny;
    }
    const kind = textOf(clause.contextKind);
    if (kind !== undefined && kind !== "user") kinds.add(kind);
    const name = textOf(clause.attribute) ?? "";
    if (name === "kind" && kind === undefined)
      throw new CannotTranslate("asks for a kind of context");
    const attribute = attributeOf(name, kind);
    if (attribute === "anonymous" && op === "in") return anonymousTest(values, isNegated);
    const test = readValues(attribute, op, values);
    return isNegated ? oppositeWhenSet(attribute, test) : test;
  };
  const read = (clauses: unknown): Test =>
    every(listOf(clauses).map((clause) => attempt(() => readOne(fieldsOf(clause)))));
  return { read, kinds };
};

/** Members of other kinds than users. */
const includedContexts = (segment: Fields): Test[] =>
  listOf(segment.includedContexts)
    .map(fieldsOf)
    .map(({ contextKind, values }) =>
      equals(attributeOf("key", contextKind), listOf(values).map(String)),
    );

export const isSegment = (value: unknown): value is Fields =>
  isFields(value) && typeof value.key === "string" && !("variations" in value) && "rules" in value;

/** The segments of an environment, each made when it is first asked for. */
export const readSegments = (
  segments: readonly Fields[],
  book: SegmentBook,
): ((key: string) => Test) => {
  const made = new Map<string, Test>();
  /** What a segment says, without making one of it: segments do not name others here. */
  const wholeOf = (key: string, path: readonly string[]): { parts: Fields; when: Test } => {
    const segment = segments.find((one) => one.key === key);
    if (segment === undefined) {
      throw new CannotTranslate(`uses the segment "${key}", which is not in the file`);
    }
    if (path.includes(key)) throw new CannotTranslate("names itself");
    if (listOf(segment.excludedContexts).length > 0) {
      throw new CannotTranslate("leaves out a list of contexts of another kind");
    }
    if (segment.unbounded === true)
      throw new CannotTranslate("is a big segment: its members are not in the file");
    const clauses = clauseReader((other) => {
      const { parts, when } = wholeOf(other, [...path, key]);
      return every([
        opposite(equals(targetingKey, excludedOf(parts))),
        some([equals(targetingKey, listOf(parts.included).map(String)), when]),
      ]);
    });
    const rules = listOf(segment.rules).map(fieldsOf);
    const when = some([
      ...includedContexts(segment),
      ...rules.map((rule) =>
        typeof rule.weight === "number" && rule.weight < 100_000
          ? impossible("takes a percentage of those whom a rule names")
          : clauses.read(rule.clauses),
      ),
    ]);
    return { parts: segment, when };
  };
  return (key) => {
    const before = made.get(key);
    if (before !== undefined) return before;
    const isThere = segments.some((one) => one.key === key);
    const whole = tryTo(() => wholeOf(key, []));
    const test =
      whole instanceof CannotTranslate
        ? isThere
          ? book.refuse(key, whole.message)
          : impossible(whole.message)
        : book.add({
            name: key,
            description: textOf(whole.parts.description) ?? textOf(whole.parts.name),
            include: listOf(whole.parts.included).map(String),
            exclude: excludedOf(whole.parts),
            when: whole.when,
          });
    made.set(key, test);
    return test;
  };
};

/** Whom LaunchDarkly includes it includes even when it also excludes them. */
const excludedOf = (segment: Fields): string[] => {
  const included = new Set(listOf(segment.included).map(String));
  return listOf(segment.excluded)
    .map(String)
    .filter((key) => !included.has(key));
};
