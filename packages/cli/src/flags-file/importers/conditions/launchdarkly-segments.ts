// Segments of LaunchDarkly: lists of users and of other context kinds, and rules.
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../loose-values.ts";
import { equals, targetingKey } from "../translate/leaves.ts";
import {
  CannotTranslate,
  every,
  impossible,
  opposite,
  some,
  type Test,
  tryTo,
} from "../translate/logic.ts";
import type { SegmentBook } from "../translate/segments.ts";
import { attributeOf, clauseReader } from "./launchdarkly-clauses.ts";

/** Listed members of kinds other than users. */
const contextsOf = (list: unknown): Test[] =>
  listOf(list)
    .map(fieldsOf)
    .map(({ contextKind, values }) =>
      equals(attributeOf("key", contextKind), listOf(values).map(String)),
    );

export const isSegment = (value: unknown): value is Fields =>
  isFields(value) && typeof value.key === "string" && !("variations" in value) && "rules" in value;

interface Parts {
  readonly segment: Fields;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly when: Test;
}

/** In LaunchDarkly, inclusion wins over exclusion, including for another kind of context. */
const partsOf = (segment: Fields, rules: Test, mayMatchOthers: boolean): Parts => {
  const include = listOf(segment.included).map(String);
  const exclude = listOf(segment.excluded)
    .map(String)
    .filter((key) => !include.includes(key));
  const included = contextsOf(segment.includedContexts);
  const excluded = contextsOf(segment.excludedContexts);
  // A list of users doesn't apply to a context without a user.
  if (included.length + excluded.length === 0 && (exclude.length === 0 || !mayMatchOthers)) {
    return { segment, include, exclude, when: rules };
  }
  const isOut = some([equals(targetingKey, exclude), ...excluded]);
  const isIn = some([equals(targetingKey, include), ...included]);
  const when = some([isIn, every([opposite(isOut), rules])]);
  return { segment, include: [], exclude: [], when };
};

const wholeOf = ({ include, exclude, when }: Parts): Test =>
  every([opposite(equals(targetingKey, exclude)), some([equals(targetingKey, include), when])]);

/** Returns a lookup of the environment's segments. Each is created at its first use. */
export const readSegments = (
  segments: readonly Fields[],
  book: SegmentBook,
): ((key: string) => Test) => {
  const made = new Map<string, Test>();
  /** The content of a segment. A nested segment is inlined, because Halyard's segments can't reference others. */
  const read = (key: string, path: readonly string[]): Parts => {
    const segment = segments.find((one) => one.key === key);
    if (segment === undefined) {
      throw new CannotTranslate(`uses the segment "${key}", which is not in the file`);
    }
    if (path.includes(key)) throw new CannotTranslate("contains itself");
    if (segment.unbounded === true)
      throw new CannotTranslate("is a big segment: its members are not in the file");
    const clauses = clauseReader((other) => wholeOf(read(other, [...path, key])));
    const rules = listOf(segment.rules).map(fieldsOf);
    const when = rules.map((rule) =>
      typeof rule.weight === "number" && rule.weight < 100_000
        ? impossible("has a percentage in a rule")
        : clauses.read(rule.clauses),
    );
    const mayMatchOthers =
      clauses.mayMatchOthers() || rules.some((rule) => listOf(rule.clauses).length === 0);
    return partsOf(segment, some(when), mayMatchOthers);
  };
  return (key) => {
    const before = made.get(key);
    if (before !== undefined) return before;
    const isThere = segments.some((one) => one.key === key);
    const parts = tryTo(() => read(key, []));
    const test =
      parts instanceof CannotTranslate
        ? isThere
          ? book.refuse(key, parts.message)
          : impossible(parts.message)
        : book.add({
            ...parts,
            name: key,
            description: textOf(parts.segment.description) ?? textOf(parts.segment.name),
          });
    made.set(key, test);
    return test;
  };
};
