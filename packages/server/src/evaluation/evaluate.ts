// Evaluates flags of a snapshot and counts what came of it.
import type { EvaluationContext } from "@halyard/core/context";
import { type Evaluation, evaluate } from "@halyard/core/evaluate";
import type { EvaluationTotals } from "../domain/usage.ts";
import type { EvaluationFlag } from "./snapshot.ts";

/** As one of many in a bulk evaluation: counted for the environment, not as a use of the flag. */
export const evaluateInBulk = (
  { prepared, off }: EvaluationFlag,
  context: EvaluationContext,
  totals: EvaluationTotals,
): Evaluation => {
  const evaluation = evaluate(prepared, context);
  if ("errorCode" in evaluation) totals.error += 1;
  else if (evaluation.variant !== off) totals.on += 1;
  else totals.off += 1;
  return evaluation;
};

/** A value counts as a use of the flag. */
export const evaluateFlag = (
  entry: EvaluationFlag,
  context: EvaluationContext,
  totals: EvaluationTotals,
): Evaluation => {
  const evaluation = evaluateInBulk(entry, context, totals);
  if ("errorCode" in evaluation) return evaluation;
  const { counter, results } = entry;
  if (evaluation.variant !== entry.off) counter.on += 1;
  else counter.off += 1;
  results?.count(evaluation);
  return evaluation;
};
