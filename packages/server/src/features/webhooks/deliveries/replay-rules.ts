// A replay of a range of events: queued in small parts as its receiver takes them, so that it holds up nothing else.

export const replayStates = ["running", "complete", "stopped"] as const;
export type ReplayState = (typeof replayStates)[number];

export interface Replay {
  readonly webhookId: string;
  /** Every event up to this sequence number has been looked at. */
  readonly reached: number;
  /** The last sequence number of the range. */
  readonly lastSequence: number;
  readonly from: Date | null;
  readonly to: Date | null;
  /** How many events were queued, and the sequence number of the last of them. */
  readonly replayed: number;
  readonly throughSequence: number | null;
  readonly state: ReplayState;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
}

/** What became of the deliveries that a replay has queued; the others are delivered. */
export interface ReplayOutcome {
  readonly pending: number;
  readonly failed: number;
}

/** Events queued in one transaction. A part follows when less than half of it is pending. */
export const replayPart = 50;
/** Sequence numbers looked at in one transaction: a webhook may be subscribed to few of many events. */
const replayWindow = 5_000;

/** The end of the part of the range that comes next. */
export const windowEnd = ({ reached, lastSequence }: Replay): number =>
  Math.min(lastSequence, reached + replayWindow);

/** The replay after the events that were found for its next part, at most `replayPart` of them. */
export const afterPart = (
  replay: Replay,
  sequences: readonly (number | null)[],
  now: Date,
): Replay => {
  const last = sequences.at(-1) ?? null;
  const isFull = sequences.length === replayPart;
  const reached = isFull && last !== null ? last : windowEnd(replay);
  const isComplete = reached >= replay.lastSequence;
  return {
    ...replay,
    reached,
    replayed: replay.replayed + sequences.length,
    throughSequence: last ?? replay.throughSequence,
    state: isComplete ? "complete" : "running",
    endedAt: isComplete ? now : null,
  };
};

/** A replay that is running, of an active webhook. */
export interface RunningReplay {
  readonly webhookId: string;
  readonly environmentId: number;
}

export interface Times {
  readonly from?: Date;
  readonly to?: Date;
}
