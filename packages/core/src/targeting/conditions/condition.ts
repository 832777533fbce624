// Compiles the conditions of rules and segments into functions.
import type { Attributes, EvaluationContext } from "../../context.ts";
import type { Turn } from "../turn.ts";
import { memberNameOf, readerOf } from "./attribute.ts";
import {
  type AttributeCondition,
  answerTo,
  noQuestion,
  operatorNamed,
  type Question,
} from "./operators.ts";
import { isFalse, isTrue, isUnknown, opposite, type Truth } from "./truth.ts";

export type Condition =
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }
  | { readonly segment: readonly string[] }
  | AttributeCondition;

/** True for every context. All versions with conditions support it, so it needs no level of its own. */
export const everyone: Condition = { all: [] };

/** Accepts any value, including conditions that are being edited. */
export const isEveryone = (condition: unknown): boolean => {
  if (typeof condition !== "object" || condition === null || !("all" in condition)) return false;
  return Array.isArray(condition.all) && condition.all.length === 0;
};

/** A compiled condition. It takes a context with only own fields; see ownMembersOf. */
export type Test = (context: EvaluationContext, turn?: Turn) => Truth;

/** The compiled segment; undefined if it does not exist, so that membership is unknown. */
export type SegmentTest = (key: string) => Test | undefined;

const never: Test = () => isUnknown;

/**
 * A part of `all` or `any`. Most parts test a field of the context, which is read directly. One object contains the
 * whole test for speed.
 */
export interface Part extends Question {
  /** Undefined if `test` decides. */
  readonly member: string | undefined;
  readonly test: Test;
}

const partOf = (question: Question, member: string | undefined, test: Test): Part => ({
  member,
  texts: question.texts,
  found: question.found,
  other: question.other,
  order: question.order,
  limit: question.limit,
  decide: question.decide,
  test,
});

const truthOfPart = (part: Part, context: EvaluationContext, turn: Turn | undefined): Truth =>
  part.member === undefined
    ? part.test(context, turn)
    : answerTo(part, (context as Attributes)[part.member], turn, part.member);

const testOf = (part: Part): Test =>
  part.member === undefined ? part.test : (context, turn) => truthOfPart(part, context, turn);

const allOf = (parts: readonly Part[]): Test => {
  const [first, second] = parts;
  if (first !== undefined && second === undefined) return testOf(first);
  return (context, turn) => {
    let least: Truth = isTrue;
    for (const part of parts) {
      const truth = truthOfPart(part, context, turn);
      if (truth === isFalse) return isFalse;
      if (truth < least) least = truth;
    }
    return least;
  };
};

const anyOf = (parts: readonly Part[]): Test => {
  const [first, second] = parts;
  if (first !== undefined && second === undefined) return testOf(first);
  return (context, turn) => {
    let greatest: Truth = isFalse;
    for (const part of parts) {
      const truth = truthOfPart(part, context, turn);
      if (truth === isTrue) return isTrue;
      if (truth > greatest) greatest = truth;
    }
    return greatest;
  };
};

const whole = (test: Test): Part => partOf(noQuestion, undefined, test);

const ofAttribute = (condition: AttributeCondition): Part => {
  const question = operatorNamed(condition.op)?.compile(condition);
  if (question === undefined) return whole(never);
  const member = memberNameOf(condition.attribute);
  if (member !== undefined) return partOf(question, member, never);
  const read = readerOf(condition.attribute);
  return whole((context, turn) => answerTo(question, read(context), turn));
};

const inSegment =
  (key: string, segments: SegmentTest): Test =>
  (context, turn) => {
    const test = segments(key) ?? never;
    return turn === undefined ? test(context) : turn.segment(test, () => test(context, turn));
  };

const compilePart = (condition: Condition, segments: SegmentTest): Part => {
  const compile = (each: Condition) => compilePart(each, segments);
  if ("all" in condition) return whole(allOf(condition.all.map(compile)));
  if ("any" in condition) return whole(anyOf(condition.any.map(compile)));
  if ("not" in condition) {
    const test = testOf(compile(condition.not));
    return whole((context, turn) => opposite(test(context, turn)));
  }
  if ("segment" in condition) {
    // Looked up at each evaluation, so that changing a segment needs no recompilation of flags.
    return whole(anyOf(condition.segment.map((key) => whole(inSegment(key, segments)))));
  }
  return ofAttribute(condition);
};

/** Recursion is safe: the depth of the condition was limited when it was saved. */
export const compileCondition = (condition: Condition, segments: SegmentTest): Test =>
  testOf(compilePart(condition, segments));

/** The parts that must all be true for the condition to be true. */
export const compileParts = (
  condition: Condition,
  segments: SegmentTest,
  parts: Part[] = [],
): readonly Part[] => {
  if ("all" in condition) for (const each of condition.all) compileParts(each, segments, parts);
  else parts.push(compilePart(condition, segments));
  return parts;
};

export const areTrue = (
  parts: readonly Part[],
  context: EvaluationContext,
  turn: Turn | undefined,
): boolean => {
  for (const part of parts) if (truthOfPart(part, context, turn) !== isTrue) return false;
  return true;
};
