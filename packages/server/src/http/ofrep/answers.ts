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

/** What telemetry joins an evaluation with the history by, under the names of OpenFeature's appendix for observability. */
const originOf = ({ version }: EvaluationFlag, flagSetId: string) => ({
  version: String(version),
  flagSetId,
});

const asProtocol = (
  entry: EvaluationFlag,
  evaluation: Evaluation,
  audience: Audience,
  flagSetId: string | undefined,
) => {
  if ("errorCode" in evaluation) return evaluation;
  const { value, variant, rule } = evaluation;
  const reason = protocolReasons[evaluation.reason];
  const metadata = {
    ...(flagSetId !== undefined && originOf(entry, flagSetId)),
    ...(reason !== evaluation.reason && { reason: evaluation.reason }),
    ...(audience === "full" && rule !== undefined && { rule }),
  };
  return { value, variant, reason, ...(Object.keys(metadata).length > 0 && { metadata }) };
};

/** The body that tells what came of an evaluation of this flag; of a flag set with an id, also the version. */
export const bodyOf = (
  entry: EvaluationFlag,
  evaluation: Evaluation,
  audience: Audience,
  flagSetId: string | undefined,
): string => {
  let bodies = kept[audience].get(entry);
  if (bodies === undefined) {
    bodies = new Map();
    kept[audience].set(entry, bodies);
  }
  let body = bodies.get(evaluation);
  if (body === undefined) {
    const told = asProtocol(entry, evaluation, audience, flagSetId);
    body = JSON.stringify({ key: entry.flag.key, ...told });
    bodies.set(evaluation, body);
  }
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
  principal: Pick<Principal, "role">,
  records: EvaluationRecords,
): OneAnswer => {
  const { counts, contextSample } = records;
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
    body: bodyOf(entry, evaluation, audienceOf(principal), flagSetIdOf(snapshot, records)),
  };
};
