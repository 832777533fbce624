// Outcome of an attempt -> when to retry, or stop.
import { isSuccess, type Outcome } from "./delivery.ts";

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
/** How long the old secret stays valid after a rotation. */
export const rotationOverlap = day;
