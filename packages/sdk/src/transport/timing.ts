// Timeouts, intervals and retry delays of the clients, in milliseconds.

export interface Timing {
  /** Between two polls, where streams are blocked. */
  readonly pollInterval: number;
  /** How long to poll before streaming is tried again. */
  readonly streamRetry: number;
  /** A stream without data for this long is dead; the server sends a heartbeat every 15 seconds. */
  readonly silence: number;
  /** Until a response begins. */
  readonly requestTimeout: number;
  /** The upper bound of the first retry delay; doubles with each further failure. */
  readonly minimumDelay: number;
  /** The upper bound of every retry delay. */
  readonly maximumDelay: number;
  /** A stream that was open for this long resets the retry delay. */
  readonly soundAfter: number;
  /** Until a rejected key is tried again. */
  readonly refusedDelay: number;
  /** Between two usage reports. */
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

/** A random part of it, so that clients that lost the same server do not reconnect all at once. */
export const jittered = (milliseconds: number): number => Math.random() * milliseconds;

/** The retry delay after this many failures in a row. */
export const delayAfter = (failures: number, timing: Timing): number =>
  jittered(Math.min(timing.maximumDelay, timing.minimumDelay * 2 ** Math.min(failures - 1, 30)));

/** Within 10 % of it, so that periodic requests of many clients spread out. */
export const roughly = (milliseconds: number): number =>
  milliseconds * 0.9 + jittered(milliseconds * 0.2);
