// A bounded sample of the contexts since the last usage report, for programs that have chosen to send one.
import type { EvaluationContext } from "@halyard/core/context";
import { boundedContext } from "@halyard/core/sampling/bounded-context";
import { createContextHash } from "@halyard/core/sampling/context-hash";
import { SmallestHashes } from "@halyard/core/sampling/smallest-hashes";

export interface ReportedContexts {
  /** Never throws, whatever the context is. */
  readonly offer: (context: EvaluationContext) => void;
  /** Each context is returned once. */
  readonly take: () => readonly object[];
}

/** The server accepts no more in one report. */
const maxContexts = 100;
/** In memory; as UTF-8, up to 50% more. */
const maxBytes = 60_000;

/** Each program samples by a random secret of its own, as the server does. */
const newSecret = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16)).join("");

export const createReportedContexts = (): ReportedContexts => {
  const hashOf = createContextHash(newSecret());
  let sample = new SmallestHashes(maxContexts, maxBytes);
  return {
    offer(context) {
      try {
        const hash = hashOf(context);
        if (hash !== undefined && sample.wants(hash)) sample.add(hash, boundedContext(context));
      } catch {
        // A context that throws when it is read is not sampled.
      }
    },
    take() {
      const taken = sample.range().entries.map(({ text }) => JSON.parse(text) as object);
      sample = new SmallestHashes(maxContexts, maxBytes);
      return taken;
    },
  };
};
