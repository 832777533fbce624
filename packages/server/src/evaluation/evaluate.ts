// Evaluates a flag of a snapshot and counts what came of it.
import type { EvaluationContext } from "@halyard/core/context";
import { type Evaluation, evaluate } from "@halyard/core/evaluate";
import { Turn } from "@halyard/core/targeting/turn";
import type { EvaluationFlag } from "./snapshot.ts";
import type { EvaluationTotals, Outcome } from "./usage/counts.ts";

export const outcomeOf = ({ off }: EvaluationFlag, evaluation: Evaluation): Outcome => {
  if ("errorCode" in evaluation) return "error";
  return evaluation.variant === off ? "off" : "on";
};

/** A value counts as a use of the flag. */
export const evaluateFlag = (
  entry: EvaluationFlag,
  context: EvaluationContext,
  totals: EvaluationTotals,
): Evaluation => {
  const evaluation = evaluate(entry.prepared, context, new Turn());
  const outcome = outcomeOf(entry, evaluation);
  totals[outcome] += 1;
  if (outcome === "error" || "errorCode" in evaluation) return evaluation;
  entry.counter[outcome] += 1;
  entry.results?.count(evaluation);
  return evaluation;
};
