// One change: it is the history entry, the source of its events and the revision that other instances follow.
import type { EventType, FlagEventType, SegmentEventType } from "@halyard/core/event-types";
import type { Flag } from "@halyard/core/flags/registry";
import type { Kind, KindValues } from "@halyard/core/kinds";
import type { Segment, SegmentChange, SegmentSummary } from "@halyard/core/targeting/segment";
import type { Author } from "../platform/auth/principal.ts";
import { type ChainedEntry, chainEntry } from "./chained-entry.ts";

/** A flag with the count of its changes. */
export interface VersionedFlag {
  readonly flag: Flag;
  readonly version: number;
  /** What it takes to evaluate it; undefined for the first level. */
  readonly level?: number | undefined;
}

/** A segment with the count of its changes. */
export interface VersionedSegment {
  readonly segment: SegmentSummary;
  readonly version: number;
}

/** An event before it has an id: its type, and the previous values of the fields that changed. */
export interface EventDraft<Type extends EventType = EventType> {
  readonly type: Type;
  readonly previous: Readonly<Record<string, unknown>>;
}
type Drafts<Type extends EventType> = readonly [EventDraft<Type>, ...EventDraft<Type>[]];

interface DecisionOf<K extends Kind> {
  readonly kind: K;
  readonly key: string;
  readonly version: number;
  readonly level: number | undefined;
  /** By how many bytes the definitions of the environment grow. */
  readonly bytes: number;
  /** The steps that it adds to an evaluation, for the largest context. */
  readonly work: number;
}

export interface FlagDecision extends DecisionOf<"flag"> {
  readonly before: Flag | null;
  readonly after: Flag | null;
  readonly drafts: Drafts<FlagEventType>;
}

export interface SegmentDecision extends DecisionOf<"segment"> {
  /** A segment that is deleted is kept in history with its members. */
  readonly before: SegmentSummary | Segment | null;
  readonly after: SegmentChange | null;
  readonly drafts: Drafts<SegmentEventType>;
  /** The flags that name it. */
  readonly flags: readonly string[];
}

/** The outcome of a request, before it has a revision in its environment. */
export type Decision = FlagDecision | SegmentDecision;

/** An environment's counters, read under its lock. */
export interface EnvironmentState {
  readonly id: number;
  readonly name: string;
  readonly revision: number;
  readonly sequence: number;
  readonly flagCount: number;
  readonly segmentCount: number;
  /** Of rules, variants and segments, as they are stored. */
  readonly definitionBytes: number;
  /** Steps that its rules and segments take for the largest context. */
  readonly definitionWork: number;
  /** When the revision was made, in milliseconds; null before the first change. */
  readonly changedAt: number | null;
  /** Whether changes need a second person. */
  readonly isProtected: boolean;
  /** The limit on flips, in percent; null for none. */
  readonly maxFlips: number | null;
  /** Of its history, at the last entry. */
  readonly chain: string;
}

export interface ChangeEvent {
  readonly id: string;
  readonly type: EventType;
  readonly sequence: number;
  /** The exact bytes that every receiver gets, at every attempt. */
  readonly body: Uint8Array;
}

export interface Change extends Author {
  /** The environment after the change. */
  readonly state: EnvironmentState;
  /** Never before the change before it. */
  readonly at: Date;
  /** By the clock, which may have gone back since. */
  readonly now: Date;
  readonly decision: Decision;
  /** Of its history. */
  readonly entry: ChainedEntry;
  readonly events: readonly ChangeEvent[];
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

export const revisionOf = ({ state, at, decision }: Change): Revision => {
  const { kind, key, version, level, after } = decision;
  const revision = { revision: state.revision, at, key, version, level };
  switch (kind) {
    case "flag":
      return { ...revision, kind, value: after };
    case "segment":
      return { ...revision, kind, value: after };
  }
};

/** Events of one name are delivered in order. A flag's key has no colon. */
export const orderedBy = ({ kind, key }: Decision): string =>
  kind === "flag" ? key : `${kind}:${key}`;

export const orderedByRequest = (id: string): string => `change_request:${id}`;

/** What a name of `orderedBy` stands for. */
export const subjectOf = (name: string | null) => {
  const [kind, key] = name?.split(":", 2) ?? [];
  if (key === undefined) return { flagKey: name };
  switch (kind) {
    case "segment":
      return { flagKey: null, segmentKey: key };
    case "change_request":
      return { flagKey: null, changeRequestId: key };
    default:
      return { flagKey: null };
  }
};

/** Receivers take bodies of so many bytes; what comes in parts has less. History has all of it. */
const maxMemberBytes = 256 * 1_024;
const maxNamedFlags = 1_000;

/** What was added and removed, unless that is more than a receiver takes. */
const listsOf = ({ include, exclude }: SegmentChange) => {
  const lists = { ...(include && { include }), ...(exclude && { exclude }) };
  return Buffer.byteLength(JSON.stringify(lists)) <= maxMemberBytes
    ? lists
    : { membersOmitted: true };
};

export const segmentSummaryOf = ({
  key,
  description,
  when,
  ...rest
}: SegmentSummary | Segment) => ({
  key,
  description,
  when,
  counts:
    "counts" in rest ? rest.counts : { include: rest.include.length, exclude: rest.exclude.length },
});

const dataOf = (decision: Decision, previous: EventDraft["previous"]) => {
  const { kind, version } = decision;
  switch (kind) {
    case "flag":
      return { flag: decision.after ?? decision.before, version, previous };
    case "segment": {
      const { after, before, flags } = decision;
      const segment = after ?? before;
      return {
        segment: segment && segmentSummaryOf(segment as SegmentSummary | Segment),
        version,
        previous,
        ...(after && listsOf(after)),
        flags: flags.slice(0, maxNamedFlags),
        ...(flags.length > maxNamedFlags && { flagsOmitted: flags.length - maxNamedFlags }),
      };
    }
  }
};

/** Before and after for people: of a segment without its members, but for those that come and go. */
export const previewOf = (decision: Decision): { before: unknown; after: unknown } => {
  if (decision.kind === "flag") return { before: decision.before, after: decision.after };
  const { before, after } = decision;
  return {
    before: before && segmentSummaryOf(before),
    after: after && { ...segmentSummaryOf(after), ...listsOf(after) },
  };
};

const countAfter = (count: number, { before, after }: Decision): number =>
  count + (before === null ? 1 : 0) - (after === null ? 1 : 0);

const stateAfter = (
  state: EnvironmentState,
  decision: Decision,
  { at, chain }: ChainedEntry,
): EnvironmentState => ({
  ...state,
  revision: state.revision + 1,
  sequence: state.sequence + decision.drafts.length,
  flagCount: decision.kind === "flag" ? countAfter(state.flagCount, decision) : state.flagCount,
  segmentCount:
    decision.kind === "segment" ? countAfter(state.segmentCount, decision) : state.segmentCount,
  definitionBytes: state.definitionBytes + decision.bytes,
  definitionWork: state.definitionWork + decision.work,
  changedAt: at,
  chain,
});

/** Times never go back, whatever the clock does, so that a time names one revision. */
const timeAfter = ({ changedAt }: EnvironmentState, now: Date): Date =>
  new Date(Math.max(now.getTime(), changedAt ?? 0));

const encoder = new TextEncoder();

/** An event with its number, and the body that every receiver gets. */
export const buildEvent = <Type extends EventType>(
  /** After the entry that the event belongs to. */
  environment: Pick<EnvironmentState, "name" | "chain">,
  { id, type, sequence, at }: { id: string; type: Type; sequence: number; at: Date },
  data: object,
  { actor, reason, review }: Author,
): ChangeEvent => {
  const body = {
    id,
    type,
    createdAt: at.toISOString(),
    environment: environment.name,
    sequence,
    chain: environment.chain,
    data,
    actor,
    ...(reason !== undefined && { reason }),
    ...review,
  };
  return { id, type, sequence, body: encoder.encode(JSON.stringify(body)) };
};

/** Assigns the decision its revision and its place in history, and its events their sequence numbers and bodies. */
export const buildEvents = (
  environment: EnvironmentState,
  decision: Decision,
  author: Author,
  now: Date,
  newEventId: () => string,
): Change => {
  const at = timeAfter(environment, now);
  const { kind, key, version, level, before, after, drafts } = decision;
  const actions = drafts.map(({ type }) => type);
  const entry = chainEntry(
    environment,
    { subject: kind, subjectId: key, version, at, ...author, actions, before, after },
    { revision: environment.revision + 1, level },
  );
  const state = stateAfter(environment, decision, entry);
  const events = drafts.map(({ type, previous }, index): ChangeEvent => {
    const sequence = environment.sequence + index + 1;
    const event = { id: newEventId(), type, sequence, at };
    return buildEvent(state, event, dataOf(decision, previous), author);
  });
  const { actor, reason, review } = author;
  return { state, at, now, actor, reason, review, decision, entry, events };
};
