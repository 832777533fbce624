// Conditions of other products know true and false; Halyard's know a third value. A test holds both sides of one: a
// condition that is true exactly for those whom it matches, and one that is true exactly for all others.
import type { Condition } from "@halyard/core/targeting/conditions/condition";

/** Halyard has no condition with this meaning; the message follows a flag's or a rule's name. */
export class CannotTranslate extends Error {}

/** A condition, or what is the same for everyone. */
export type Logic = boolean | Condition;

/** Made only when needed: some conditions have one side that can be said, and one that cannot. */
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

/** The test, exact only if the attribute is as the product expects on each side. Without an expectation, any attribute is exact. */
export const exactIf = (
  test: Test,
  attribute: string,
  { yes, no }: { readonly yes?: string; readonly no?: string },
): Test => {
  const say = (is = "") => (is === "" ? [] : [`${attribute} is ${is}`]);
  const own = { ...test, exactIf: { yes: say(yes), no: say(no) } };
  return { ...test, exactIf: sidesOf([test, own]) };
};

const isCondition = (each: Logic): each is Condition => typeof each === "object";
const isAll = (each: Condition): each is { readonly all: readonly Condition[] } => "all" in each;
const isAny = (each: Condition): each is { readonly any: readonly Condition[] } => "any" in each;
const isSegment = (each: Condition): each is { readonly segment: readonly string[] } =>
  "segment" in each;

const maxSegments = 20;

/** Segments side by side are one condition. */
const mergeSegments = (parts: readonly Condition[]): readonly Condition[] => {
  const keys = new Set(parts.filter(isSegment).flatMap(({ segment }) => segment));
  if (keys.size < 2 || keys.size > maxSegments) return parts;
  return [{ segment: [...keys] }, ...parts.filter((each) => !isSegment(each))];
};

/** The same condition twice says nothing more. */
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

/** What comes of it, or why it cannot be said in Halyard. */
export const tryTo = <T>(work: () => T): T | CannotTranslate => {
  try {
    return work();
  } catch (error) {
    if (error instanceof CannotTranslate) return error;
    throw error;
  }
};

/** A reader may find out only while it reads that it cannot. */
export const attempt = (read: () => Test): Test => {
  const test = tryTo(read);
  return test instanceof CannotTranslate ? impossible(test.message) : test;
};
