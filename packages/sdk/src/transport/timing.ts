// Timeouts, intervals and retry delays of the clients, in milliseconds.
import { type ClientError, isRefusal } from "./client-error.ts";

export interface Timing {
  /** Between two polls, if streams are blocked. */
  readonly pollInterval: number;
  /** How long to poll, after a response that is not a stream or a silent stream, before streaming is tried again. */
  readonly streamRetry: number;
  /** A stream without data for this long is dead; the server sends a heartbeat every 15 seconds. */
  readonly silence: number;
  /** Until a response begins. */
  readonly requestTimeout: number;
  /** The upper bound of the first retry delay. Doubles with the second failure, and with each after the 17th. */
  readonly minimumDelay: number;
  /** The upper bound of every retry delay. While the key is rejected, the first is a second, and doubles with each failure. */
  readonly maximumDelay: number;
  /** Between two usage reports. */
  readonly usageInterval: number;
}

/** The values that programs can set. The others depend on the server and on each other. */
export type TimingOptions = Partial<
  Pick<Timing, "pollInterval" | "requestTimeout" | "maximumDelay" | "usageInterval">
>;

export const standardTiming: Timing = {
  pollInterval: 30_000,
  streamRetry: 300_000,
  silence: 45_000,
  requestTimeout: 10_000,
  minimumDelay: 500,
  maximumDelay: 30_000,
  usageInterval: 60_000,
};

/** A random part of this time, so that clients of the same server do not all reconnect at once. */
export const jittered = (milliseconds: number): number => Math.random() * milliseconds;

/** Attempts before the delay grows further: a brief outage, such as a restart, is over by then. */
const quickTries = 16;

/** The retry delay after this many failures in a row: about half a second on average at first, and then longer each time. */
export const delayAfter = (failures: number, timing: Timing): number => {
  const times = Math.min(failures - 1, Math.max(1, failures - quickTries));
  return jittered(Math.min(timing.maximumDelay, timing.minimumDelay * 2 ** times));
};

/** The delay before another stream when streams fail although other requests succeed. */
export const streamDelayAfter = (misses: number, timing: Timing): number =>
  misses === 1 ? 0 : delayAfter(misses, timing);

/** This time ±10%, so that periodic requests of many clients spread out. */
export const roughly = (milliseconds: number): number => milliseconds * (0.9 + jittered(0.2));

const firstRefusedDelay = 1_000;

/**
 * The retry delay after this error, and at least the server's Retry-After. Many keys are rejected only for a moment, such as by a
 * proxy or during a rotation.
 */
export const retryDelay = (error: ClientError, failures: number, timing: Timing): number =>
  Math.max(
    isRefusal(error)
      ? roughly(Math.min(timing.maximumDelay, firstRefusedDelay * 2 ** (failures - 1)))
      : delayAfter(failures, timing),
    Math.min(error.retryAfter ?? 0, timing.maximumDelay),
  );

/** Values that the server has not confirmed for longer than this are out of date: every transport is slower only when it fails. */
export const maxConfirmedAge = (timing: Timing): number =>
  Math.max(timing.silence, timing.pollInterval * 1.1, timing.maximumDelay) +
  2 * timing.requestTimeout;
