// The circuit breaker of a webhook: how many concurrent requests it may get, judged by its responses so far.

const failuresToOpen = 10;
const firstProbeAfter = 1_000;
const longestProbePause = 15_000;
export const requestsAtOnce = 4;

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
