// Turns hourly evaluation counts into the bars of a time span, including empty ones.
import type { FlagUsage } from "@halyard/sdk";
import type { Bar } from "../components/display/bar-chart.tsx";

export interface Span {
  readonly label: string;
  readonly hours: number;
  /** Hours of one bar. */
  readonly perBar: number;
  /** The same in words, such as "an hour". */
  readonly each: string;
}

const hour = 60 * 60 * 1_000;

export const barsOf = (
  usage: FlagUsage["hours"],
  { hours, perBar }: Span,
  now: number,
  labelOf: (time: Date) => string,
): readonly Bar[] => {
  const end = Math.floor(now / hour) * hour + hour;
  const start = end - hours * hour;
  const bars = Array.from({ length: hours / perBar }, (_, index) => ({
    label: labelOf(new Date(start + index * perBar * hour)),
    values: [0, 0, 0] as [number, number, number],
  }));
  for (const each of usage) {
    const bar = bars[Math.floor((new Date(each.hour).getTime() - start) / (perBar * hour))];
    if (bar === undefined) continue;
    bar.values[0] += each.on;
    bar.values[1] += each.off;
    bar.values[2] += each.together;
  }
  return bars;
};
