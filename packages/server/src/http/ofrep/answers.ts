// The bodies of evaluations, written once for each flag and outcome and kept for as long as the flag stays as it is.
import { hash } from "node:crypto";
import type { EvaluationContext } from "@halyard/core/context";
import type { Evaluation } from "@halyard/core/evaluate";
import type { EvaluationTotals } from "../../domain/usage.ts";
import { evaluateFlag, evaluateInBulk } from "../../evaluation/evaluate.ts";
import type { EvaluationFlag, Snapshot } from "../../evaluation/snapshot.ts";
import { readAsked } from "./request.ts";

/** A flag as it is has one reason for each value, so there are three bodies at most. */
interface Bodies {
  on: string | undefined;
  off: string | undefined;
  refused: string | undefined;
}
const kept = new WeakMap<EvaluationFlag, Bodies>();

const bodiesOf = (entry: EvaluationFlag): Bodies => {
  let bodies = kept.get(entry);
  if (!bodies) {
    bodies = { on: undefined, off: undefined, refused: undefined };
    kept.set(entry, bodies);
  }
  return bodies;
};

/**
 * Providers of some languages answer `DISABLED` with the program's own default, so that turning a flag off would not reach
 * them. `STATIC` is as true: off is the same for everyone.
 */
const asProtocol = (evaluation: Evaluation) =>
  "reason" in evaluation && evaluation.reason === "DISABLED"
    ? { ...evaluation, reason: "STATIC", metadata: { reason: "DISABLED" } }
    : evaluation;

const write = ({ flag }: EvaluationFlag, evaluation: Evaluation): string =>
  JSON.stringify({ key: flag.key, ...asProtocol(evaluation) });

/** The body that tells what came of an evaluation of this flag. */
const bodyOf = (entry: EvaluationFlag, evaluation: Evaluation): string => {
  const bodies = bodiesOf(entry);
  if ("errorCode" in evaluation) {
    bodies.refused ??= write(entry, evaluation);
    return bodies.refused;
  }
  if (evaluation.value) {
    bodies.on ??= write(entry, evaluation);
    return bodies.on;
  }
  bodies.off ??= write(entry, evaluation);
  return bodies.off;
};

export interface OneAnswer {
  readonly status: 200 | 400 | 404;
  readonly body: string;
}

/** One flag for the context in the request's body. */
export const answerOne = (
  snapshot: Snapshot,
  key: string,
  requestBody: Buffer | undefined,
  totals: EvaluationTotals,
): OneAnswer => {
  const asked = readAsked(requestBody);
  if (!asked.ok) return { status: 400, body: JSON.stringify({ key, ...asked.error }) };
  const entry = snapshot.get(key);
  if (!entry) {
    const errorDetails = `The flag "${key}" does not exist.`;
    return {
      status: 404,
      body: JSON.stringify({ key, errorCode: "FLAG_NOT_FOUND", errorDetails }),
    };
  }
  const evaluation = evaluateFlag(entry, asked.context, totals);
  return {
    status: "errorCode" in evaluation ? 400 : 200,
    body: bodyOf(entry, evaluation),
  };
};

export interface BulkAnswer {
  readonly tag: string;
  readonly body: string;
}

/**
 * The tag is made from the body, so it depends on whatever the answer depends on. The address of the event stream is part of
 * it: clients take it from their last whole answer, so a 304 must not leave them with one that is over.
 */
export const evaluateAll = (
  snapshot: Snapshot,
  context: EvaluationContext,
  streamUrl: string | undefined,
  totals: EvaluationTotals,
): BulkAnswer => {
  totals.bulk += 1;
  snapshot.bulk.on += 1;
  const items = snapshot
    .all()
    .map((entry) => bodyOf(entry, evaluateInBulk(entry, context, totals)));
  const rest = JSON.stringify({
    metadata: { environment: snapshot.environmentName },
    ...(streamUrl !== undefined && {
      eventStreams: [{ type: "sse", url: streamUrl, inactivityDelaySec: 120 }],
    }),
  });
  const body = `{"flags":[${items.join(",")}],${rest.slice(1)}`;
  return { tag: hash("sha256", body, "base64url").slice(0, 27), body };
};
