// How long the clients wait for what, in milliseconds.

export interface Timing {
  /** Between two polls, where streaming cannot be had. */
  readonly pollInterval: number;
  /** After so long of polling, streaming is tried again. */
  readonly streamRetry: number;
  /** A stream that says nothing for so long is dead; the server says something every 15 seconds. */
  readonly silence: number;
  /** For an answer to begin. */
  readonly requestTimeout: number;
  /** The first pause after a failure is up to so long; each further one up to twice the one before. */
  readonly minimumDelay: number;
  /** No pause between attempts is longer. */
  readonly maximumDelay: number;
  /** A stream that lasted so long was sound: the next attempt follows at once. */
  readonly soundAfter: number;
  /** Until a key that was refused is tried again. */
  readonly refusedDelay: number;
  /** Between two reports of usage. */
  readonly usageInterval: number;
}

export const standardTiming: Timing = {
  pollInterval: 30_000,
  streamRetry: 300_000,
  silence: 45_000,
  requestTimeout: 10_000,
  minimumDelay: 500,
  maximumDelay: 30_000,
  soundAfter: 10_000,
  refusedDelay: 60_000,
  usageInterval: 60_000,
};

/** Any time up to the whole of it: many clients that lost the same server come back spread out. */
export const jittered = (milliseconds: number): number => Math.random() * milliseconds;

/** The pause after so many failures in a row. */
export const delayAfter = (failures: number, timing: Timing): number =>
  jittered(Math.min(timing.maximumDelay, timing.minimumDelay * 2 ** Math.min(failures - 1, 30)));

/** About the time, for what is done again and again. */
export const roughly = (milliseconds: number): number =>
  milliseconds * 0.9 + jittered(milliseconds * 0.2);
