// Counts by name within a minute: so many, then no more until the next.
import { networkOf } from "./client-network.ts";

const minute = 60_000;
/** Names remembered at once; beyond it the oldest are forgotten, so that a flood of addresses costs no memory. */
const maxNames = 20_000;

export interface RateLimit {
  /** Counts one; gives the seconds to wait when that was one too many. */
  take(name: string): number | undefined;
  /** The seconds to wait when the limit is reached, without counting. */
  waiting(name: string): number | undefined;
}

interface Window {
  readonly endsAt: number;
  count: number;
}

export const unlimited: RateLimit = { take: () => undefined, waiting: () => undefined };

export const createRateLimit = (perMinute: number, now: () => number): RateLimit => {
  if (perMinute === 0) return unlimited;
  const windows = new Map<string, Window>();

  const current = (name: string): Window | undefined => {
    const window = windows.get(name);
    return window && window.endsAt > now() ? window : undefined;
  };
  const wait = (window: Window): number => Math.max(1, Math.ceil((window.endsAt - now()) / 1_000));

  return {
    take(name) {
      const window = current(name);
      if (window) {
        window.count += 1;
        return window.count > perMinute ? wait(window) : undefined;
      }
      windows.delete(name);
      windows.set(name, { endsAt: now() + minute, count: 1 });
      if (windows.size > maxNames) {
        const [oldest] = windows.keys();
        if (oldest !== undefined) windows.delete(oldest);
      }
      return undefined;
    },
    waiting(name) {
      const window = current(name);
      return window && window.count >= perMinute ? wait(window) : undefined;
    },
  };
};

/** The same limit, asked by address and counted by network. */
export const byNetwork = (limit: RateLimit): RateLimit => ({
  take: (address) => limit.take(networkOf(address)),
  waiting: (address) => limit.waiting(networkOf(address)),
});
