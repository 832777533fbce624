// Reports the counts of evaluations to the server at intervals.
import type { Server } from "./address.ts";
import { lastReportTimeout, sendReport } from "./send-report.ts";
import { runRepeatedly } from "./timers.ts";
import { roughly, type Timing } from "./timing.ts";

/** Counts that were taken for a report. */
export interface TakenCounts {
  /** An entry of `evaluations`. */
  readonly entry: object;
  /** Adds them to the next report, because this one failed. */
  readonly restore: () => void;
}

export interface UsageReport {
  /** Sends the counts by a request that can outlive its page. */
  flush(): Promise<void>;
  /** Stops after a last report. */
  close(): Promise<void>;
}

/** The entry of a report for a result that was counted this often. */
export type Counted = (count: number) => object;

/** Counts results until a report takes them. */
export interface Tally {
  add(counted: Counted, times?: number): void;
  readonly take: () => TakenCounts[];
}

export const createTally = (): Tally => {
  const counts = new Map<Counted, number>();
  const add = (counted: Counted, times = 1) =>
    void counts.set(counted, (counts.get(counted) ?? 0) + times);
  return {
    add,
    take() {
      const taken = [...counts];
      counts.clear();
      return taken.map(([counted, count]) => ({
        entry: counted(count),
        restore: () => add(counted, count),
      }));
    },
  };
};

const maxEntries = 1_000;
/**
 * Of the entries in characters, except for the last one. Browsers reject keepalive requests of more than 64 KiB. The server rejects
 * reports of more than 256 KiB: those of programs can have entries of 17 KiB, and contexts of 88 KiB.
 */
const maxLength = 60_000;

/** The server has taken the report, or never will: to send it again would block the next ones. */
const isSettled = (status: number): boolean => /^(2..|400|413)$/.test(`${status}`);

export const startUsageReport = (
  server: Server,
  timing: Timing,
  take: () => readonly TakenCounts[],
  /** Other fields of each report. */
  more: () => object = () => ({}),
): UsageReport => {
  const report = async (timeout: number, leaving: boolean): Promise<void> => {
    const left = [...take()];
    while (left.length > 0) {
      const part: TakenCounts[] = [];
      for (
        let length = 0;
        left[0] && part.length < maxEntries && length < maxLength;
        length += JSON.stringify(part.at(-1)).length
      ) {
        part.push(...left.splice(0, 1));
      }
      const body = JSON.stringify({ evaluations: part.map(({ entry }) => entry), ...more() });
      if (isSettled(await sendReport(server, "/api/v1/usage", body, timeout, leaving))) continue;
      for (const { restore } of part.concat(left.splice(0))) restore();
    }
  };

  const stop = runRepeatedly(
    () => roughly(timing.usageInterval),
    () => report(timing.requestTimeout, false),
  );
  return {
    flush: () => report(timing.requestTimeout, true),
    async close() {
      stop();
      await report(Math.min(lastReportTimeout, timing.requestTimeout), true);
    },
  };
};
