// The bodies of evaluations, written once for each flag and outcome and kept for as long as the flag stays as it is.
import { hash } from "node:crypto";
import type { Evaluation, Reason } from "@halyard/core/evaluate";
import { may, type Principal } from "../../platform/auth/principal.ts";
import type { ContextSample } from "../context-sample.ts";
import { evaluateFlag, outcomeOf } from "../evaluate.ts";
import type { EvaluationFlag, KeptBody, Snapshot } from "../snapshot.ts";
import type { EvaluationTotals } from "../usage/counts.ts";
import type { EvaluationErrors } from "../usage/failed-evaluations.ts";
import { parseEvaluationRequest } from "./request.ts";

/** Client keys, which anybody can read in a page, are not told which rule decided. */
export const mayExplain = (principal: Pick<Principal, "role">): boolean =>
  may(principal, "flags.explain");

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

const writeBody = (
  entry: EvaluationFlag,
  evaluation: Evaluation,
  isFull: boolean,
  flagSetId: string | undefined,
): KeptBody => {
  const told = asProtocol(entry, evaluation, isFull, flagSetId);
  const text = JSON.stringify({ key: entry.flag.key, ...told });
  const digest = hash("sha256", text, "buffer");
  return {
    evaluation,
    outcome: outcomeOf(entry, evaluation),
    isFull,
    text,
    digest0: digest.readInt32LE(0),
    digest1: digest.readInt32LE(4),
    digest2: digest.readInt32LE(8),
    digest3: digest.readInt32LE(12),
    before: entry.body,
  };
};

/** The body that tells what came of an evaluation of this flag; of a flag set with an id, also the version. */
export const bodyOf = (
  entry: EvaluationFlag,
  evaluation: Evaluation,
  isFull: boolean,
  flagSetId: string | undefined,
): KeptBody => {
  let body = entry.body;
  while (body !== undefined && (body.evaluation !== evaluation || body.isFull !== isFull)) {
    body = body.before;
  }
  if (body !== undefined) return body;
  entry.body = writeBody(entry, evaluation, isFull, flagSetId);
  return entry.body;
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
export const flagSetIdOf = (
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
