// Passes tracked events to the program's handler, each with the evaluations that it belongs to.
import type { EvaluationContext } from "@halyard/core/context";
import type { FlagValue } from "@halyard/core/evaluate";
import type { Details, FlagMetadata } from "./details.ts";
import { createListeners } from "./transport/listeners.ts";

/** What the program knows about an event. */
export interface TrackDetails {
  /** A number to add up or to average, such as an amount. */
  readonly value?: number;
  readonly [field: string]: unknown;
}

/** The last evaluation of a flag for a targeting key. With `version` and `flagSetId` where they are known. */
export interface TrackedEvaluation extends Partial<FlagMetadata> {
  readonly flagKey: string;
  /** Absent with an `errorCode`: the fallback of the program applied. */
  readonly value?: FlagValue;
  readonly variant?: string;
  readonly reason: Details["reason"];
  readonly rule?: string;
  readonly overridden?: true;
  readonly errorCode?: NonNullable<Details["errorCode"]>;
  /** The first of the evaluations in a row that returned this value. */
  readonly since: Date;
}

export interface TrackedEvent {
  readonly name: string;
  readonly at: Date;
  readonly context: EvaluationContext;
  readonly details: TrackDetails;
  /** By this client, for the targeting key of the context; oldest flag first. */
  readonly evaluations: readonly TrackedEvaluation[];
}

export interface TrackingOptions {
  /** Receives the events of `track`. Without it, `track` does nothing and no evaluations are remembered. */
  readonly onTrack?: (event: TrackedEvent) => unknown;
  /** How many evaluations are remembered for `onTrack`, one for each flag and targeting key; 10,000 by default. */
  readonly trackedEvaluations?: number;
}

export interface Tracking {
  remember(
    targetingKey: string,
    flagKey: string,
    details: Details<FlagValue>,
    metadata: FlagMetadata | undefined,
  ): void;
  track(
    targetingKey: string | undefined,
    event: Pick<TrackedEvent, "name" | "context" | "details">,
  ): void;
}

/** Without the value of a failed evaluation, which is the program's own. */
type Outcome = Omit<TrackedEvaluation, "flagKey" | "since">;

interface Remembered {
  readonly outcome: Outcome;
  readonly metadata: FlagMetadata | undefined;
  readonly since: number;
}

const standardLimit = 10_000;
/** Longer ones would take more memory than the limit suggests. The server rejects them over OFREP. */
const longestTargetingKey = 1_024;

const outcomeOf = (details: Details<FlagValue>): Outcome => {
  const { value, errorMessage: _, ...others } = details;
  return { ...(details.errorCode === undefined && { value }), ...others };
};

const isSame = (one: Outcome, other: Outcome): boolean =>
  one.errorCode === other.errorCode &&
  one.variant === other.variant &&
  (one.value === other.value || JSON.stringify(one.value) === JSON.stringify(other.value));

const evaluationOf = (
  flagKey: string,
  { outcome, metadata, since }: Remembered,
): TrackedEvaluation => ({ flagKey, ...outcome, ...metadata, since: new Date(since) });

/** A context whose members cannot be read counts as empty, as in evaluations. */
const copyOf = (context: EvaluationContext): EvaluationContext => {
  try {
    return { ...context };
  } catch {
    return {};
  }
};

/** Undefined without a handler. */
export const createTracking = (
  { onTrack, trackedEvaluations = standardLimit }: TrackingOptions,
  onError: (name: string, cause: unknown) => void,
): Tracking | undefined => {
  if (onTrack === undefined) return undefined;
  const listeners = createListeners<{ readonly track: TrackedEvent }>(onError);
  listeners.on("track", onTrack);
  /** By targeting key and flag key. The targeting key without an evaluation for longest is first. */
  const remembered = new Map<string, Map<string, Remembered>>();
  let size = 0;

  const deleteOldest = (): void => {
    for (const [targetingKey, flags] of remembered) {
      for (const flagKey of flags.keys()) {
        if (size <= trackedEvaluations) return;
        flags.delete(flagKey);
        size -= 1;
      }
      remembered.delete(targetingKey);
    }
  };

  return {
    remember(targetingKey, flagKey, details, metadata) {
      if (targetingKey.length > longestTargetingKey) return;
      const flags = remembered.get(targetingKey) ?? new Map<string, Remembered>();
      const before = flags.get(flagKey);
      if (before === undefined) size += 1;
      const outcome = outcomeOf(details);
      const since =
        before !== undefined && isSame(before.outcome, outcome) ? before.since : Date.now();
      flags.set(flagKey, { outcome, metadata, since });
      remembered.delete(targetingKey);
      remembered.set(targetingKey, flags);
      deleteOldest();
    },
    track(targetingKey, { name, context, details }) {
      const flags = targetingKey === undefined ? undefined : remembered.get(targetingKey);
      listeners.emit("track", {
        name,
        at: new Date(),
        context: copyOf(context),
        details: { ...details },
        evaluations: [...(flags ?? [])].map(([flagKey, each]) => evaluationOf(flagKey, each)),
      });
    },
  };
};
