// The answer to a bulk evaluation: the kept bodies of all flags in one text, and a tag made from their digests.
import { hash } from "node:crypto";
import { hashOfMany } from "@halyard/core/bucket-of-many";
import { type EvaluationContext, isTargetingKey } from "@halyard/core/context";
import { evaluate } from "@halyard/core/evaluate";
import type { Snapshot } from "../../evaluation/snapshot.ts";
import { bodyOf, type EvaluationRecords, flagSetIdOf } from "./answers.ts";

export interface BulkAnswer {
  readonly tag: string;
  readonly body: string;
}

/**
 * The tag depends on every byte of the answer. The address of the event stream is part of it: clients take it from their
 * last whole answer, so a 304 must not leave them with one that is over.
 */
export const evaluateAll = (
  snapshot: Snapshot,
  context: EvaluationContext,
  streamUrl: string | undefined,
  isFull: boolean,
  records: EvaluationRecords,
): BulkAnswer => {
  const flagSetId = flagSetIdOf(snapshot, records);
  snapshot.bulk.on += 1;
  const rest = JSON.stringify({
    metadata: { environment: snapshot.environmentName },
    ...(streamUrl !== undefined && {
      eventStreams: [{ type: "sse", url: streamUrl, inactivityDelaySec: 120 }],
    }),
  });

  const { targetingKey } = context;
  const hashOf = isTargetingKey(targetingKey) ? hashOfMany(targetingKey) : undefined;
  let list = "";
  // Each body names its flag and the list is sorted by them, so the sum of the digests says which bodies and in which order.
  let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0];
  // Counted for the environment, not as a use of each flag.
  let [on, off, errors] = [0, 0, 0];
  for (const entry of snapshot.all()) {
    const evaluation = evaluate(entry.prepared, context, undefined, hashOf);
    const body = bodyOf(entry, evaluation, isFull, flagSetId);
    if (body.outcome === "on") on += 1;
    else if (body.outcome === "off") off += 1;
    else errors += 1;
    list += list === "" ? body.text : body.next;
    sum0 = (sum0 + body.digest0) | 0;
    sum1 = (sum1 + body.digest1) | 0;
    sum2 = (sum2 + body.digest2) | 0;
    sum3 = (sum3 + body.digest3) | 0;
  }
  const { counts } = records;
  counts.bulk += 1;
  counts.on += on;
  counts.off += off;
  counts.error += errors;
  const named = `${sum0},${sum1},${sum2},${sum3}${rest}`;
  return {
    tag: hash("sha256", named, "base64url").slice(0, 27),
    body: `{"flags":[${list}],${rest.slice(1)}`,
  };
};
