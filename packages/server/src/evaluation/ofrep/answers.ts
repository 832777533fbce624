// The bodies of evaluations, written once for each flag and outcome and kept for as long as the flag stays as it is.
import { hash } from "node:crypto";
import type { EvaluationContext } from "@halyard/core/context";
import { type Evaluation, evaluate, type Reason } from "@halyard/core/evaluate";
import type { Turn } from "@halyard/core/targeting/turn";
import { may, type Principal } from "../../platform/auth/principal.ts";
import type { ContextSample } from "../context-sample.ts";
import { evaluateFlag, outcomeOf } from "../evaluate.ts";
import type { EvaluationFlag, KeptBody, Snapshot } from "../snapshot.ts";
import type { EvaluationTotals } from "../usage/counts.ts";
import type { EvaluationErrors } from "../usage/failed-evaluations.ts";
import { parseEvaluationRequest } from "./request.ts";

/** Client keys are public, so they don't learn which rule decided. */
const mayExplain = (principal: Pick<Principal, "role">): boolean => may(principal, "flags.explain");

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

/** What telemetry joins an evaluation with the history by, under the names of OpenFeature's appendix for observability. */
const originOf = ({ version }: EvaluationFlag, flagSetId: string) => ({
  version: String(version),
  flagSetId,
});

const asProtocol = (
  entry: EvaluationFlag,
  evaluation: Evaluation,
  isFull: boolean,
  flagSetId: string | undefined,
) => {
  if ("errorCode" in evaluation) return evaluation;
  const { value, variant, rule } = evaluation;
  const reason = protocolReasons[evaluation.reason];
  const metadata = {
    ...(flagSetId !== undefined && originOf(entry, flagSetId)),
    ...(reason !== evaluation.reason && { reason: evaluation.reason }),
    ...(isFull && rule !== undefined && { rule }),
  };
  return { value, variant, reason, ...(Object.keys(metadata).length > 0 && { metadata }) };
};

/** The kept body of this result, written the first time; with a flag set id it holds the version of the flag. */
const bodyOf = (
  entry: EvaluationFlag,
  evaluation: Evaluation,
  isFull: boolean,
  flagSetId: string | undefined,
): KeptBody => {
  for (const body of entry.bodies) {
    if (body.evaluation === evaluation && body.isFull === isFull) return body;
  }
  const fields = asProtocol(entry, evaluation, isFull, flagSetId);
  const text = JSON.stringify({ key: entry.flag.key, ...fields });
  const body = { evaluation, outcome: outcomeOf(entry, evaluation), isFull, text };
  entry.bodies.push(body);
  return body;
};

export interface OneAnswer {
  readonly status: 200 | 400 | 404;
  readonly body: string;
}

/** What evaluations leave behind, and tell. */
export interface EvaluationRecords {
  readonly counts: EvaluationTotals;
  readonly contextSample: Pick<ContextSample, "offer">;
  readonly evaluationErrors: Pick<EvaluationErrors, "add">;
  /** Whether answers tell the version of each flag and its environment. */
  readonly ofrepMetadata?: boolean;
}

/** Undefined when answers do not tell it. */
const flagSetIdOf = (
  { environmentName }: Snapshot,
  { ofrepMetadata }: EvaluationRecords,
): string | undefined => (ofrepMetadata === true ? environmentName : undefined);

/** One flag for the context in the request's body. */
export const answerOne = (
  snapshot: Snapshot,
  key: string,
  requestBody: Buffer | undefined,
  principal: Principal,
  records: EvaluationRecords,
): OneAnswer => {
  const { counts, contextSample, evaluationErrors } = records;
  const asked = parseEvaluationRequest(requestBody);
  if (!asked.ok) return { status: 400, body: JSON.stringify({ key, ...asked.error }) };
  const entry = snapshot.get(key);
  if (!entry) {
    evaluationErrors.add(principal, key, { FLAG_NOT_FOUND: 1 });
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
    body: bodyOf(entry, evaluation, mayExplain(principal), flagSetIdOf(snapshot, records)).text,
  };
};

export interface AllAnswer {
  readonly tag: string;
  readonly body: Buffer;
}

/**
 * All flags for one context. The tag is a hash of the whole body, with the address of the event stream: clients take the
 * address from their last whole response, so a 304 must not leave them with one that has expired.
 */
export const answerAll = (
  snapshot: Snapshot,
  context: EvaluationContext,
  streamUrl: string | undefined,
  principal: Principal,
  records: EvaluationRecords,
  /** Flags that are already decided are in it. */
  turn: Turn,
): AllAnswer => {
  const { counts } = records;
  const isFull = mayExplain(principal);
  const flagSetId = flagSetIdOf(snapshot, records);
  // Counted for the environment, not as a use of each flag.
  counts.bulk += 1;
  snapshot.bulk.on += 1;
  const texts = snapshot.all().map((entry) => {
    const known = turn.evaluations.get(entry.flag.key);
    const { outcome, text } = bodyOf(
      entry,
      known ?? evaluate(entry.prepared, context, turn),
      isFull,
      flagSetId,
    );
    counts[outcome] += 1;
    return text;
  });
  const rest = JSON.stringify({
    metadata: { environment: snapshot.environmentName },
    ...(streamUrl !== undefined && {
      eventStreams: [{ type: "sse", url: streamUrl, inactivityDelaySec: 120 }],
    }),
  });
  const body = Buffer.from(`{"flags":[${texts.join(",")}],${rest.slice(1)}`);
  return { tag: hash("sha256", body, "base64url").slice(0, 27), body };
};
