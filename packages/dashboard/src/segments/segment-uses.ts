// Which flags name a segment, and in which of their rules.
import { namedSegments, rulesNaming } from "@halyard/core/targeting/references";
import type { LiveFlag } from "../live.ts";

interface SegmentUse {
  /** The key of the flag. */
  readonly flag: string;
  /** The ids of its rules. */
  readonly rules: readonly string[];
}

export const usesOf = (flags: readonly LiveFlag[], segment: string): readonly SegmentUse[] =>
  flags
    .map(({ flag }) => ({ flag: flag.key, rules: rulesNaming(flag, segment) }))
    .filter(({ rules }) => rules.length > 0);

/** How many flags name each segment. */
export const countUses = (flags: readonly LiveFlag[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { flag } of flags) {
    for (const key of new Set(namedSegments(flag).map((named) => named.key))) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  return counts;
};
