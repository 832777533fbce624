// Conditions of other products are true or false, but Halyard's can also be unknown. So a test has two sides: a condition
// that is true exactly if the original matches, and one that is true exactly if it doesn't.
import type { Condition } from "@halyard/core/targeting/conditions/condition";

/** Thrown if Halyard has no equivalent. The message completes a sentence that starts with a flag or rule. */
export class CannotTranslate extends Error {}

/** A condition, or a constant. */
export type Logic = boolean | Condition;

/** Each side is computed on demand, because some tests can translate only one of them. */
export interface Test {
  readonly yes: () => Logic;
  readonly no: () => Logic;
  /** Conditions on present attributes under which a side is exact, such as "age is a number". */
  readonly exactIf?: Sides;
}

interface Sides {
  readonly yes: readonly string[];
  readonly no: readonly string[];
}

const sidesOf = (tests: readonly Test[]): Sides => {
  const sides = tests.flatMap(({ exactIf }) => exactIf ?? []);
  return {
    yes: [...new Set(sides.flatMap(({ yes }) => yes))],
    no: [...new Set(sides.flatMap(({ no }) => no))],
  };
};

/** Marks a test as exact only if the attribute is of a kind, on both sides or on each. A side without a kind is always exact. */
export const exactIf = (
  test: Test,
  attribute: string,
  kind: string | { readonly yes?: string; readonly no?: string },
): Test => {
  const { yes, no } = typeof kind === "string" ? { yes: kind, no: kind } : kind;
  const noted = (is = "") => (is === "" ? [] : [`${attribute} is ${is}`]);
  const own = { ...test, exactIf: { yes: noted(yes), no: noted(no) } };
  return { ...test, exactIf: sidesOf([test, own]) };
};

const isCondition = (each: Logic): each is Condition => typeof each === "object";
const isAll = (each: Condition): each is { readonly all: readonly Condition[] } => "all" in each;
const isAny = (each: Condition): each is { readonly any: readonly Condition[] } => "any" in each;
const isSegment = (each: Condition): each is { readonly segment: readonly string[] } =>
  "segment" in each;

const maxSegments = 20;

/** Several segment conditions become one. */
const mergeSegments = (parts: readonly Condition[]): readonly Condition[] => {
  const keys = new Set(parts.filter(isSegment).flatMap(({ segment }) => segment));
  if (keys.size < 2 || keys.size > maxSegments) return parts;
  return [{ segment: [...keys] }, ...parts.filter((each) => !isSegment(each))];
};

/** Removes duplicates. */
const distinct = (parts: readonly Condition[]): readonly Condition[] => [
  ...new Map(parts.map((each) => [JSON.stringify(each), each])).values(),
];

export const allOf = (parts: readonly Logic[]): Logic => {
  if (parts.includes(false)) return false;
  const rest = distinct(
    parts.filter(isCondition).flatMap((each) => (isAll(each) ? each.all : [each])),
  );
  const [first = true] = rest;
  return rest.length > 1 ? { all: rest } : first;
};

export const anyOf = (parts: readonly Logic[]): Logic => {
  if (parts.includes(true)) return true;
  const flat = parts.filter(isCondition).flatMap((each) => (isAny(each) ? each.any : [each]));
  const rest = mergeSegments(distinct(flat));
  const [first = false] = rest;
  return rest.length > 1 ? { any: rest } : first;
};

export const every = (tests: readonly Test[]): Test => ({
  yes: () => allOf(tests.map(({ yes }) => yes())),
  no: () => anyOf(tests.map(({ no }) => no())),
  exactIf: sidesOf(tests),
});

export const some = (tests: readonly Test[]): Test => ({
  yes: () => anyOf(tests.map(({ yes }) => yes())),
  no: () => allOf(tests.map(({ no }) => no())),
  exactIf: sidesOf(tests),
});

export const opposite = ({ yes, no, exactIf: sides }: Test): Test => ({
  yes: no,
  no: yes,
  ...(sides && { exactIf: { yes: sides.no, no: sides.yes } }),
});

export const always: Test = { yes: () => true, no: () => false };
export const never: Test = opposite(always);

export const impossible = (why: string): Test => {
  const fail = () => {
    throw new CannotTranslate(why);
  };
  return { yes: fail, no: fail };
};

/** The result, or the reason why Halyard has no equivalent. */
export const tryTo = <T>(work: () => T): T | CannotTranslate => {
  try {
    return work();
  } catch (error) {
    if (error instanceof CannotTranslate) return error;
    throw error;
  }
};

/** Turns a translation error into a test that fails on use, so that the rest of the condition can be read. */
export const attempt = (read: () => Test): Test => {
  const test = tryTo(read);
  return test instanceof CannotTranslate ? impossible(test.message) : test;
};
