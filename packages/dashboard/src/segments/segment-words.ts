// What a segment is, in a few words.
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import type { SegmentSummary } from "@halyard/core/targeting/segment";
import { formatNumber } from "../format.ts";
import { conditionPhrase } from "../targeting/sentence.ts";

export const conditionText = (condition: Condition | null | undefined): string =>
  condition === null || condition === undefined ? "none" : conditionPhrase(condition);

/** "12 included, 3 excluded, a condition". */
export const whoIsIn = ({ counts, when }: SegmentSummary): string => {
  const parts = [
    ...(counts.include === 0 ? [] : [`${formatNumber(counts.include)} included`]),
    ...(counts.exclude === 0 ? [] : [`${formatNumber(counts.exclude)} excluded`]),
    ...(when === null ? [] : ["a condition"]),
  ];
  return parts.length === 0 ? "nobody yet" : parts.join(", ");
};

export const flagsText = (count: number): string => {
  if (count === 0) return "not used";
  return `used by ${formatNumber(count)} ${count === 1 ? "flag" : "flags"}`;
};
