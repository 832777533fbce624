// A uniform sample of the contexts that were asked about lately, in memory alone: who a change of a flag would reach.
import type { Attributes, EvaluationContext } from "@halyard/core/context";
import {
  mergeRanges,
  type Sampled,
  type SampledRange,
} from "@halyard/core/sampling/smallest-hashes";

export interface SampledContext {
  readonly context: Attributes;
  /** It came with a client key, which anybody can have. */
  readonly fromClient: boolean;
}

export interface SampleView {
  readonly contexts: readonly SampledContext[];
  readonly since: Date;
  readonly until: Date;
}

export interface ContextSample {
  /** Cheap: called at every evaluation. */
  offer(environmentId: number, context: EvaluationContext, fromClient: boolean): void;
  /** Merged over the workers of this machine. Undefined when sampling is off. */
  view(environmentId: number): Promise<SampleView | undefined>;
  forget(environmentId: number): void;
}

/** What one process has of one environment. */
export interface SamplePart {
  readonly clients: SampledRange;
  readonly others: SampledRange;
  /** Milliseconds since 1970. */
  readonly since: number;
  readonly until: number;
}

/** Contexts read between two breaks: all of them would hold up every request for too long. */
const readAtOnce = 500;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const readContexts = async (
  sampled: readonly Sampled[],
  fromClient: boolean,
): Promise<readonly SampledContext[]> => {
  const contexts: SampledContext[] = [];
  for (const { text } of sampled) {
    contexts.push({ context: JSON.parse(text) as Attributes, fromClient });
    if (contexts.length % readAtOnce === 0) await nextTurn();
  }
  return contexts;
};

/**
 * The smallest hashes of all. Contexts of client keys are at most a quarter when there are others, however many of them
 * were sent: a flood of them makes their own range shorter, and nobody else's.
 */
export const viewOf = async (parts: readonly SamplePart[], size: number): Promise<SampleView> => {
  const merge = (kind: "clients" | "others") =>
    mergeRanges(
      parts.map((part) => part[kind]),
      size,
    );
  const others = merge("others");
  const known = new Set(others.entries.map(({ hash }) => hash));
  const unknown = merge("clients").entries.filter(({ hash }) => !known.has(hash));
  const clients: SampledRange = { limit: others.limit, entries: unknown };
  const together = mergeRanges([others, clients], size);
  const quarter =
    known.size === 0 ? size : Math.floor(Math.min(size / 4, others.entries.length / 3));
  const chosen = clients.entries.filter(({ hash }) => hash < together.limit).slice(0, quarter);
  return {
    contexts: [
      ...(await readContexts(others.entries.slice(0, size - chosen.length), false)),
      ...(await readContexts(chosen, true)),
    ],
    since: new Date(Math.min(...parts.map(({ since }) => since))),
    until: new Date(Math.max(...parts.map(({ until }) => until))),
  };
};
