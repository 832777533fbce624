// One change: it is the history entry, the source of its events and the revision that other instances follow.
import type { FlagEventType } from "@halyard/core/flag-events";
import type { Flag } from "@halyard/core/flags/registry";
import type { Kind, KindValues } from "@halyard/core/kinds";
import type { Actor } from "./principal.ts";

/** A flag with the count of its changes. */
export interface VersionedFlag {
  readonly flag: Flag;
  readonly version: number;
  /** What it takes to evaluate it; undefined for the first level. */
  readonly level?: number | undefined;
}

/** An event before it has an id: its type, and the previous values of the fields that changed. */
export interface EventDraft {
  readonly type: FlagEventType;
  readonly previous: Readonly<Record<string, unknown>>;
}

/** The outcome of a request, before it has a revision in its environment. */
export interface Decision {
  readonly kind: Kind;
  readonly key: string;
  readonly before: Flag | null;
  readonly after: Flag | null;
  readonly version: number;
  readonly level: number | undefined;
  readonly drafts: readonly [EventDraft, ...EventDraft[]];
}

/** An environment's counters, read under its lock. */
export interface EnvironmentState {
  readonly id: number;
  readonly name: string;
  readonly revision: number;
  readonly sequence: number;
  readonly flagCount: number;
}

export interface FlagEvent {
  readonly id: string;
  readonly type: FlagEventType;
  readonly sequence: number;
  /** The exact bytes that every receiver gets, at every attempt. */
  readonly body: Uint8Array;
}

export interface Change {
  readonly environmentId: number;
  readonly revision: number;
  readonly sequence: number;
  readonly flagCount: number;
  readonly at: Date;
  readonly actor: Actor;
  readonly decision: Decision;
  readonly events: readonly FlagEvent[];
}

/** An entry of the revision log: what a change left, and the revision that it made. All that followers need. */
export type Revision = {
  readonly [K in Kind]: {
    readonly revision: number;
    readonly at: Date;
    readonly kind: K;
    readonly key: string;
    readonly version: number;
    readonly level?: number | undefined;
    /** Null when it was deleted. */
    readonly value: KindValues[K] | null;
  };
}[Kind];

export const revisionOf = ({ revision, at, decision }: Change): Revision => ({
  revision,
  at,
  kind: decision.kind,
  key: decision.key,
  version: decision.version,
  level: decision.level,
  value: decision.after,
});

/** Assigns the decision its revision, and its events their sequence numbers and bodies. */
export const buildEvents = (
  environment: EnvironmentState,
  decision: Decision,
  actor: Actor,
  at: Date,
  newEventId: () => string,
): Change => {
  const events = decision.drafts.map((announcement, index): FlagEvent => {
    const id = newEventId();
    const sequence = environment.sequence + index + 1;
    const body = {
      id,
      type: announcement.type,
      createdAt: at.toISOString(),
      environment: environment.name,
      sequence,
      data: {
        flag: decision.after ?? decision.before,
        version: decision.version,
        previous: announcement.previous,
      },
      actor,
    };
    return {
      id,
      type: announcement.type,
      sequence,
      body: new TextEncoder().encode(JSON.stringify(body)),
    };
  });
  return {
    environmentId: environment.id,
    revision: environment.revision + 1,
    sequence: environment.sequence + events.length,
    flagCount:
      environment.flagCount +
      (decision.before === null ? 1 : 0) -
      (decision.after === null ? 1 : 0),
    at,
    actor,
    decision,
    events,
  };
};
