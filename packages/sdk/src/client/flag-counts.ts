// Takes the counts of the flags' evaluations for a usage report.
import { maxReportedNames } from "@halyard/core/result-counts";
import type { TakenCounts } from "../transport/usage-report.ts";
import type { FlagEntry } from "./flag-table.ts";

/** The server accepts no higher count. */
const maxCount = 1_000_000_000;

export const takeCounts = (entries: Iterable<FlagEntry>): readonly TakenCounts[] => {
  const taken: TakenCounts[] = [];
  for (const entry of entries) {
    const on = Math.min(entry.on, maxCount);
    const off = Math.min(entry.off, maxCount);
    if (on + off === 0) continue;
    entry.on -= on;
    entry.off -= off;
    const results = entry.results?.take(maxCount, maxReportedNames);
    taken.push({
      entry: { key: entry.key, on, off, ...results },
      restore() {
        entry.on += on;
        entry.off += off;
        if (results) entry.results?.add(results);
      },
    });
  }
  return taken;
};
