// Counts by name within a window of time and reports when the limit is reached.
import { networkOf } from "./client-network.ts";

const minute = 60_000;
/** Names remembered at once; beyond it the oldest are forgotten, so that a flood of addresses costs no memory. */
const maxNames = 20_000;

export interface RateLimit {
  /** Counts one, or `amount`. Returns the seconds to wait if that exceeds the limit. */
  take(name: string, amount?: number): number | undefined;
  /** The seconds to wait when the limit is reached, without counting. */
  waiting(name: string): number | undefined;
}

interface Window {
  readonly endsAt: number;
  count: number;
}

export const unlimited: RateLimit = { take: () => undefined, waiting: () => undefined };

export const createRateLimit = (
  limit: number,
  now: () => number,
  /** Milliseconds. */
  windowLength = minute,
): RateLimit => {
  if (limit === 0) return unlimited;
  const windows = new Map<string, Window>();

  const current = (name: string): Window | undefined => {
    const window = windows.get(name);
    return window && window.endsAt > now() ? window : undefined;
  };
  const wait = (window: Window): number => Math.max(1, Math.ceil((window.endsAt - now()) / 1_000));

  return {
    take(name, amount = 1) {
      const window = current(name);
      if (window) {
        window.count += amount;
        return window.count > limit ? wait(window) : undefined;
      }
      windows.delete(name);
      windows.set(name, { endsAt: now() + windowLength, count: amount });
      if (windows.size > maxNames) {
        const [oldest] = windows.keys();
        if (oldest !== undefined) windows.delete(oldest);
      }
      return undefined;
    },
    waiting(name) {
      const window = current(name);
      return window && window.count >= limit ? wait(window) : undefined;
    },
  };
};

/** The same limit, asked by address and counted by network. */
export const byNetwork = (limit: RateLimit): RateLimit => ({
  take: (address) => limit.take(networkOf(address)),
  waiting: (address) => limit.waiting(networkOf(address)),
});
