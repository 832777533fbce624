// The answer to a bulk evaluation: the kept bodies of all flags in one text, and a tag made from their digests.
import { hash } from "node:crypto";
import type { EvaluationContext } from "@halyard/core/context";
import type { Turn } from "@halyard/core/targeting/turn";
import type { Snapshot } from "../snapshot.ts";
import { type EvaluationRecords, flagSetIdOf } from "./answers.ts";
import { bodiesOf } from "./bulk-table.ts";

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
  turn: Turn,
): BulkAnswer => {
  snapshot.bulk.on += 1;
  const rest = JSON.stringify({
    metadata: { environment: snapshot.environmentName },
    ...(streamUrl !== undefined && {
      eventStreams: [{ type: "sse", url: streamUrl, inactivityDelaySec: 120 }],
    }),
  });
  const { list, sums, counts } = bodiesOf(
    snapshot,
    context,
    isFull,
    flagSetIdOf(snapshot, records),
    turn,
  );
  // Counted for the environment, not as a use of each flag.
  const [on, off, errors] = counts;
  records.counts.bulk += 1;
  records.counts.on += on;
  records.counts.off += off;
  records.counts.error += errors;
  return {
    // Each body names its flag and the list is sorted by them, so the sum of the digests says which bodies and in which order.
    tag: hash("sha256", `${sums.join(",")}${rest}`, "base64url").slice(0, 27),
    body: `{"flags":[${list}],${rest.slice(1)}`,
  };
};
