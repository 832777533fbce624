// Conditions: what a rule or a segment asks of a context, compiled into one function.
import type { EvaluationContext } from "../../context.ts";
import { readerOf } from "./attribute.ts";
import { type AttributeCondition, operatorNamed } from "./operators.ts";
import { isFalse, isTrue, isUnknown, opposite, type Truth } from "./truth.ts";

export type Condition =
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }
  | { readonly segment: readonly string[] }
  | AttributeCondition;

/** A compiled condition. */
export type Test = (context: EvaluationContext) => Truth;

/** The compiled segment; undefined when there is none of this key, which nobody can be known to be in. */
export type SegmentTest = (key: string) => Test | undefined;

const never: Test = () => isUnknown;

const allOf = (tests: readonly Test[]): Test => {
  const [first = never, second] = tests;
  if (second === undefined) return first;
  return (context) => {
    let least: Truth = isTrue;
    for (const test of tests) {
      const truth = test(context);
      if (truth === isFalse) return isFalse;
      if (truth < least) least = truth;
    }
    return least;
  };
};

const anyOf = (tests: readonly Test[]): Test => {
  const [first = never, second] = tests;
  if (second === undefined) return first;
  return (context) => {
    let greatest: Truth = isFalse;
    for (const test of tests) {
      const truth = test(context);
      if (truth === isTrue) return isTrue;
      if (truth > greatest) greatest = truth;
    }
    return greatest;
  };
};

const ofAttribute = (condition: AttributeCondition): Test => {
  const decide = operatorNamed(condition.op)?.compile(condition);
  if (decide === undefined) return never;
  const read = readerOf(condition.attribute);
  return (context) => decide(read(context));
};

/** Of a condition that was checked when it was saved, so it is not deep. */
export const compileCondition = (condition: Condition, segments: SegmentTest): Test => {
  const compile = (each: Condition) => compileCondition(each, segments);
  if ("all" in condition) return allOf(condition.all.map(compile));
  if ("any" in condition) return anyOf(condition.any.map(compile));
  if ("not" in condition) {
    const test = compile(condition.not);
    return (context) => opposite(test(context));
  }
  if ("segment" in condition) {
    // Looked up every time: a change of a segment compiles nothing that names it.
    return anyOf(condition.segment.map((key) => (context) => (segments(key) ?? never)(context)));
  }
  return ofAttribute(condition);
};
