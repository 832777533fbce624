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

/** The last evaluation of a flag for a targeting key, with `version` and `flagSetId` if they are known. */
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
  /** By this client, for the targeting key of the context; the latest is last. */
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

const standardLimit = 10_000;
/** Longer ones would take more memory than the limit suggests. The server rejects them over OFREP. */
const longestTargetingKey = 1_024;

/** Compares objects by identity first, because serializing large ones takes long. */
const isSame = (one: TrackedEvaluation, other: TrackedEvaluation): boolean =>
  one.errorCode === other.errorCode &&
  one.variant === other.variant &&
  (one.value === other.value || JSON.stringify(one.value) === JSON.stringify(other.value));

/** Undefined without a handler. */
export const createTracking = (
  { onTrack, trackedEvaluations = standardLimit }: TrackingOptions,
  onError: (name: string, cause: unknown) => void,
): Tracking | undefined => {
  if (!onTrack) return undefined;
  const listeners = createListeners<{ readonly track: TrackedEvent }>(onError);
  listeners.on("track", onTrack);
  /** By targeting key and flag key; the evaluation made longest ago is first. */
  const remembered = new Map<
    string,
    { readonly targetingKey: string; readonly evaluation: TrackedEvaluation }
  >();

  return {
    remember(targetingKey, flagKey, details, metadata) {
      if (targetingKey.length > longestTargetingKey) return;
      const { value, errorMessage: _, ...others } = details;
      const id = `${targetingKey}\n${flagKey}`;
      const before = remembered.get(id)?.evaluation;
      const evaluation = {
        flagKey,
        // The value of a failed evaluation is the program's own.
        ...(others.errorCode ? {} : { value }),
        ...others,
        ...metadata,
        since: new Date(),
      };
      if (before && isSame(before, evaluation)) evaluation.since = before.since;
      remembered.delete(id);
      remembered.set(id, { targetingKey, evaluation });
      const [oldest = ""] = remembered.keys();
      if (remembered.size > trackedEvaluations) remembered.delete(oldest);
    },
    track(targetingKey, event) {
      const evaluations = [...remembered.values()]
        .filter((each) => each.targetingKey === targetingKey)
        .map(({ evaluation }) => evaluation);
      listeners.emit("track", { at: new Date(), ...event, evaluations });
    },
  };
};
