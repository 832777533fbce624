// Turns hourly evaluation counts into the bars of a time span, including empty ones.
import type { UsageHour } from "@halyard/sdk/management";
import type { Bar } from "../../components/display/bar-chart.tsx";
import type { UsageSeries } from "./usage-series.ts";

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
  usage: readonly UsageHour[],
  series: readonly UsageSeries[],
  { hours, perBar }: Span,
  now: number,
  labelOf: (time: Date) => string,
): readonly Bar[] => {
  const end = Math.floor(now / hour) * hour + hour;
  const start = end - hours * hour;
  const bars = Array.from({ length: hours / perBar }, (_, index) => ({
    label: labelOf(new Date(start + index * perBar * hour)),
    values: series.map(() => 0),
  }));
  for (const each of usage) {
    const bar = bars[Math.floor((new Date(each.hour).getTime() - start) / (perBar * hour))];
    if (bar === undefined) continue;
    bar.values = bar.values.map((value, at) => value + (series[at]?.countIn(each) ?? 0));
  }
  return bars;
};
