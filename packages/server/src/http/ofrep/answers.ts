// The bodies of evaluations, written once for each flag and outcome and kept for as long as the flag stays as it is.
import type { Evaluation, Reason } from "@halyard/core/evaluate";
import { may, type Principal } from "../../domain/principal.ts";
import type { EvaluationTotals } from "../../domain/usage.ts";
import type { ContextSample } from "../../evaluation/context-sample.ts";
import { evaluateFlag } from "../../evaluation/evaluate.ts";
import type { EvaluationFlag, Snapshot } from "../../evaluation/snapshot.ts";
import { readAsked } from "./request.ts";

/**
 * By result: a prepared flag has a fixed set of them, one object for each, so the bodies are written once. Client keys,
 * which anybody can read in a page, are not told which rule decided.
 */
type Bodies = Map<Evaluation, string>;
const kept = {
  full: new WeakMap<EvaluationFlag, Bodies>(),
  values: new WeakMap<EvaluationFlag, Bodies>(),
};
export type Audience = keyof typeof kept;

export const audienceOf = (principal: Pick<Principal, "role">): Audience =>
  may(principal, "flags.explain") ? "full" : "values";

/**
 * The protocol's own reasons. Providers of some languages answer `DISABLED` with the program's own default, so that turning
 * a flag off would not reach them. `STATIC` is as true: off is the same for everyone.
 */
const protocolReasons: Readonly<Record<Reason, string>> = {
  STATIC: "STATIC",
  SPLIT: "SPLIT",
  TARGETING_MATCH: "TARGETING_MATCH",
  DISABLED: "STATIC",
  PREREQUISITE_FAILED: "STATIC",
  DEFAULT: "TARGETING_MATCH",
};

const asProtocol = (evaluation: Evaluation, audience: Audience) => {
  if ("errorCode" in evaluation) return evaluation;
  const { value, variant, rule } = evaluation;
  const reason = protocolReasons[evaluation.reason];
  const metadata = {
    ...(reason !== evaluation.reason && { reason: evaluation.reason }),
    ...(audience === "full" && rule !== undefined && { rule }),
  };
  return { value, variant, reason, ...(Object.keys(metadata).length > 0 && { metadata }) };
};

/** The body that tells what came of an evaluation of this flag. */
export const bodyOf = (
  entry: EvaluationFlag,
  evaluation: Evaluation,
  audience: Audience,
): string => {
  let bodies = kept[audience].get(entry);
  if (bodies === undefined) {
    bodies = new Map();
    kept[audience].set(entry, bodies);
  }
  let body = bodies.get(evaluation);
  if (body === undefined) {
    body = JSON.stringify({ key: entry.flag.key, ...asProtocol(evaluation, audience) });
    bodies.set(evaluation, body);
  }
  return body;
};

export interface OneAnswer {
  readonly status: 200 | 400 | 404;
  readonly body: string;
}

/** What evaluations leave behind. */
export interface EvaluationRecords {
  readonly counts: EvaluationTotals;
  readonly contextSample: Pick<ContextSample, "offer">;
}

/** One flag for the context in the request's body. */
export const answerOne = (
  snapshot: Snapshot,
  key: string,
  requestBody: Buffer | undefined,
  principal: Pick<Principal, "role">,
  { counts, contextSample }: EvaluationRecords,
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
  contextSample.offer(snapshot.environmentId, asked.context, principal.role === "client");
  const evaluation = evaluateFlag(entry, asked.context, counts);
  return {
    status: "errorCode" in evaluation ? 400 : 200,
    body: bodyOf(entry, evaluation, audienceOf(principal)),
  };
};
