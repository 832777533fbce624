// Reports the counts of evaluations to the server at intervals.
import type { Server } from "./address.ts";
import { exchange } from "./exchange.ts";
import { startTimer } from "./timers.ts";
import { roughly, type Timing } from "./timing.ts";

export interface Counter {
  readonly key: string;
  on: number;
  off: number;
}

export interface UsageReport {
  /** Sends the counts; `leaving` lets the request outlive a page that closes. */
  flush(leaving?: boolean): Promise<void>;
  /** Stops after a last report. */
  close(): Promise<void>;
}

const maxEntries = 1_000;
const maxCount = 1_000_000_000;
/** Browsers reject keepalive requests of more than 64 KiB. */
const maxKeepalive = 60_000;
const lastReportTimeout = 3_000;

interface Taken {
  readonly counter: Counter;
  readonly on: number;
  readonly off: number;
}

const take = (counters: Iterable<Counter>): Taken[] => {
  const taken: Taken[] = [];
  for (const counter of counters) {
    const on = Math.min(counter.on, maxCount);
    const off = Math.min(counter.off, maxCount);
    if (on + off === 0) continue;
    counter.on -= on;
    counter.off -= off;
    taken.push({ counter, on, off });
  }
  return taken;
};

/** The server will never accept this report: a retry would block the next ones. */
const isRejected = (status: number): boolean => status === 400 || status === 413;

export const startUsageReport = (
  { base, authorization, fetch }: Server,
  timing: Timing,
  counters: () => Iterable<Counter>,
): UsageReport => {
  const send = async (part: readonly Taken[], timeout: number, keepalive: boolean) => {
    const evaluations = part.map(({ counter: { key }, on, off }) => ({ key, on, off }));
    const body = JSON.stringify({ evaluations });
    try {
      const status = await exchange({
        fetch,
        url: `${base}/api/v1/usage`,
        init: {
          method: "POST",
          headers: { ...authorization, "content-type": "application/json" },
          body,
          ...(keepalive && body.length <= maxKeepalive && { keepalive }),
        },
        timeout,
        read: async (response) => {
          await response.text();
          return response.status;
        },
      });
      return (status >= 200 && status < 300) || isRejected(status);
    } catch {
      return false;
    }
  };

  const report = async (timeout: number, keepalive: boolean) => {
    const taken = take(counters());
    for (let start = 0; start < taken.length; start += maxEntries) {
      if (await send(taken.slice(start, start + maxEntries), timeout, keepalive)) continue;
      for (const { counter, on, off } of taken.slice(start)) {
        counter.on += on;
        counter.off += off;
      }
      return;
    }
  };

  let cancel = () => {};
  const schedule = () => {
    cancel = startTimer(roughly(timing.usageInterval), () => {
      void report(timing.requestTimeout, false).then(() => !closed && schedule());
    });
  };
  let closed = false;
  schedule();
  return {
    flush: (leaving = false) => report(timing.requestTimeout, leaving),
    async close() {
      closed = true;
      cancel();
      await report(Math.min(lastReportTimeout, timing.requestTimeout), true);
    },
  };
};
