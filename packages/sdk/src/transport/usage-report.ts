// Reports the counts of evaluations to the server at intervals.
import {
  maxReportedNames,
  type ResultCounter,
  type ResultCounts,
} from "@halyard/core/result-counts";
import type { Server } from "./address.ts";
import { exchange } from "./exchange.ts";
import { startTimer } from "./timers.ts";
import { roughly, type Timing } from "./timing.ts";

export interface Counter {
  readonly key: string;
  on: number;
  off: number;
  results?: ResultCounter | undefined;
  /** Of evaluations that failed: `on` counts them. */
  readonly errorCode?: string;
}

export interface UsageReport {
  /** Sends the counts; `leaving` lets the request outlive a page that closes. */
  flush(leaving?: boolean): Promise<void>;
  /** Stops after a last report. */
  close(): Promise<void>;
}

const maxEntries = 1_000;
const maxCount = 1_000_000_000;
/** In characters, all of them ASCII: the server accepts 256 KiB, one entry takes up to 17 KiB, and contexts up to 88 KiB. */
const maxLength = 150_000;
/** Browsers reject keepalive requests of more than 64 KiB. */
const maxKeepalive = 60_000;
const lastReportTimeout = 3_000;

interface Taken {
  readonly counter: Counter;
  readonly counts: ResultCounts & { readonly on: number; readonly off: number };
  /** As it is reported. */
  readonly text: string;
}

const take = (counters: Iterable<Counter>): Taken[] => {
  const taken: Taken[] = [];
  for (const counter of counters) {
    const on = Math.min(counter.on, maxCount);
    const off = Math.min(counter.off, maxCount);
    if (on + off === 0) continue;
    counter.on -= on;
    counter.off -= off;
    const counts = { on, off, ...counter.results?.take(maxCount, maxReportedNames) };
    const { key, errorCode } = counter;
    const reported =
      errorCode === undefined ? counts : { on: 0, off: 0, errors: { [errorCode]: on } };
    taken.push({ counter, counts, text: JSON.stringify({ key, ...reported }) });
  }
  return taken;
};

/** The end of the report that begins at `start`. */
const endOf = (taken: readonly Taken[], start: number): number => {
  let length = 0;
  let end = start;
  while (end < taken.length && end - start < maxEntries && length < maxLength) {
    length += taken[end]?.text.length ?? 0;
    end += 1;
  }
  return end;
};

/** The server will never accept this report: a retry would block the next ones. */
const isRejected = (status: number): boolean => status === 400 || status === 413;

/** What a report carries beside the counts. */
export interface Beside {
  /** Contexts as JSON, of which each goes into one report. */
  readonly contexts?: (() => readonly string[]) | undefined;
  /** What the program tells of itself. */
  readonly client?: (() => object | undefined) | undefined;
}

export const startUsageReport = (
  { base, authorization, fetch }: Server,
  timing: Timing,
  counters: () => Iterable<Counter>,
  { contexts: takeContexts = () => [], client = () => undefined }: Beside = {},
): UsageReport => {
  const send = async (part: readonly Taken[], timeout: number, keepalive: boolean) => {
    const contexts = takeContexts();
    const self = client();
    const counts = `"evaluations":[${part.map(({ text }) => text).join(",")}]${self === undefined ? "" : `,"client":${JSON.stringify(self)}`}`;
    const sample = contexts.length === 0 ? "" : `,"contexts":[${contexts.join(",")}]`;
    // What is said at the end must not be lost for the contexts.
    const isLong = keepalive && counts.length + sample.length > maxKeepalive;
    const body = `{${counts}${isLong ? "" : sample}}`;
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
    for (let start = 0, end = 0; start < taken.length; start = end) {
      end = endOf(taken, start);
      if (await send(taken.slice(start, end), timeout, keepalive)) continue;
      for (const { counter, counts } of taken.slice(start)) {
        counter.on += counts.on;
        counter.off += counts.off;
        counter.results?.add(counts);
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
