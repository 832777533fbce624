// When a delivery is sent again or given up, how many requests a webhook gets at once, and when it is deactivated.
import { isSuccess, type Outcome } from "../deliveries/rules.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The pause after the first attempt, after the second, and so on: about three days in all. */
export const retryPauses = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
] as const;

const jitter = 0.2;
const longestRetryAfter = 24 * hour;
/** No attempt is planned further ahead, not even by an instance whose clock is an hour fast. */
export const furthestRetry =
  Math.max(...retryPauses.map((pause) => pause * (1 + jitter)), longestRetryAfter) + hour;

export type RetryDecision =
  | { readonly kind: "delivered" }
  /** `notBefore` is what the receiver asked for with Retry-After. */
  | { readonly kind: "retry"; readonly at: number; readonly notBefore: number }
  | { readonly kind: "failed" };

/** Milliseconds that a Retry-After header asks for, at most a day; 0 when it cannot be parsed. */
export const retryAfterOf = (header: string | undefined, now: number): number => {
  if (header === undefined) return 0;
  const asked = /^\s*\d{1,9}\s*$/.test(header) ? Number(header) * second : Date.parse(header) - now;
  return Number.isFinite(asked) ? Math.min(Math.max(asked, 0), longestRetryAfter) : 0;
};

/** `attemptsMade` counts this one; `random` is from 0 to 1. */
export const decideRetry = (
  outcome: Outcome,
  attemptsMade: number,
  now: number,
  random: number,
): RetryDecision => {
  if (isSuccess(outcome)) return { kind: "delivered" };
  const pause = retryPauses[attemptsMade - 1];
  if (pause === undefined) return { kind: "failed" };
  const spread = pause * (1 + jitter * (2 * random - 1));
  const asked = outcome.kind === "answered" ? retryAfterOf(outcome.retryAfter, now) : 0;
  return {
    kind: "retry",
    at: now + Math.round(Math.max(spread, asked)),
    notBefore: asked === 0 ? 0 : now + asked,
  };
};

/** How long events, deliveries and attempts are kept. */
export const retention = 90 * day;

/** How long a webhook has been failing: the time between its failures, so that a jump of the clock counts as at most a day. */
export interface Failing {
  /** The first failure since the last success. */
  readonly since: number;
  /** The failure up to which `lasted` counts. */
  readonly countedAt: number;
  /** Milliseconds between failures, see `failedFor`. */
  readonly lasted: number;
}

/** More than a day between two failures counts as a day: it may be the clock that jumped. */
const passed = ({ countedAt }: Failing, now: number): number =>
  Math.min(Math.max(now - countedAt, 0), day);

/** The same object until there is something to store, which is once an hour. */
export const afterFailureAt = (failing: Failing | null, now: number): Failing => {
  if (failing === null) return { since: now, countedAt: now, lasted: 0 };
  // The clock was set back: time counts from here.
  if (now < failing.countedAt) {
    return { ...failing, since: Math.min(failing.since, now), countedAt: now };
  }
  const milliseconds = passed(failing, now);
  if (milliseconds < hour) return failing;
  return { ...failing, countedAt: now, lasted: failing.lasted + milliseconds };
};

/** Milliseconds of failures without a success, at the time of another failure. */
export const failedFor = (failing: Failing, now: number): number =>
  failing.lasted + passed(failing, now);

/** A webhook that fails for this long without a success is deactivated. */
export const longestFailure = 5 * day;

const failuresToOpen = 10;
const firstProbeAfter = 1_000;
const longestProbePause = 15_000;
export const requestsAtOnce = 4;

/** The circuit breaker of a webhook: how many concurrent requests it may get, judged by its responses so far. */
export type Breaker =
  | { readonly kind: "closed"; readonly failures: number }
  /** Nothing is sent until `probeAt`, then a single probe. */
  | { readonly kind: "open"; readonly probeAt: number; readonly pause: number }
  /** It responds again: the concurrency doubles as long as it succeeds. */
  | { readonly kind: "ramping"; readonly limit: number; readonly successes: number };

export const healthy: Breaker = { kind: "closed", failures: 0 };

export const limitOf = (breaker: Breaker, now: number): number => {
  switch (breaker.kind) {
    case "closed":
      return requestsAtOnce;
    case "open":
      return now >= breaker.probeAt ? 1 : 0;
    case "ramping":
      return breaker.limit;
  }
};

export const afterSuccess = (breaker: Breaker): Breaker => {
  switch (breaker.kind) {
    case "closed":
      return breaker.failures === 0 ? breaker : healthy;
    case "open":
      return { kind: "ramping", limit: 2, successes: 0 };
    case "ramping": {
      const successes = breaker.successes + 1;
      if (successes < breaker.limit) return { ...breaker, successes };
      const limit = breaker.limit * 2;
      return limit > requestsAtOnce ? healthy : { kind: "ramping", limit, successes: 0 };
    }
  }
};

export const afterFailure = (breaker: Breaker, now: number): Breaker => {
  switch (breaker.kind) {
    case "closed": {
      const failures = breaker.failures + 1;
      return failures < failuresToOpen
        ? { kind: "closed", failures }
        : { kind: "open", probeAt: now + firstProbeAfter, pause: firstProbeAfter };
    }
    case "open": {
      // Requests in flight when it opened fail too; only a failed probe makes the pause longer.
      if (now < breaker.probeAt) return breaker;
      const pause = Math.min(breaker.pause * 2, longestProbePause);
      return { kind: "open", probeAt: now + pause, pause };
    }
    case "ramping":
      return { kind: "open", probeAt: now + firstProbeAfter, pause: firstProbeAfter };
  }
};
