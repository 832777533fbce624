// What the chart of a flag's evaluations shows: on and off, or the variants of a flag that has others.
import { onOrOff } from "@halyard/core/flags/on-or-off";
import { choiceOf, type Flag } from "@halyard/core/flags/registry";
import type { UsageHour } from "@halyard/sdk/management";
import type { Series } from "../../components/display/bar-chart.tsx";
import { formatPercent } from "../../format.ts";

export interface UsageSeries extends Series {
  readonly countIn: (hour: UsageHour) => number;
}

/** More of them cannot be told apart. */
const maxVariants = 6;
const colors = ["green", "orange", "violet", "teal", "pink"].map(
  (color) => `var(--halyard-series-${color})`,
);

const on: UsageSeries = { name: "on", color: "var(--halyard-on)", countIn: (hour) => hour.on };
const off: UsageSeries = { name: "off", color: "var(--halyard-off)", countIn: (hour) => hour.off };
/** In requests for all flags: which values they gave is not counted. */
export const together: UsageSeries = {
  name: "with all flags",
  color: "var(--mantine-color-blue-4)",
  countIn: (hour) => hour.together,
};

export const sumOf = (hours: readonly UsageHour[], countIn: UsageSeries["countIn"]): number =>
  hours.reduce((sum, hour) => sum + countIn(hour), 0);

/** Evaluations of this flag alone. */
export const ownCount = (hour: UsageHour): number => hour.on + hour.off;

/** With one decimal. */
export const formatShare = (part: number, whole: number): string =>
  formatPercent(whole === 0 ? 0 : Math.round((1_000 * part) / whole) / 10);

const countOf =
  (variant: string): UsageSeries["countIn"] =>
  ({ variants }) =>
    variants?.[variant] ?? 0;

/** Those of the flag in their order, the off variant last, then those that it had before. */
const namesOf = (flag: Flag, hours: readonly UsageHour[]): string[] => {
  const { variants, off: offVariant } = choiceOf(flag);
  const current = Object.keys(variants).filter((name) => name !== offVariant);
  const counted = hours.flatMap(({ variants: counts = {} }) => Object.keys(counts)).sort();
  return [...new Set([...current, offVariant, ...counted])];
};

const variantSeries = (flag: Flag, hours: readonly UsageHour[]): UsageSeries[] => {
  const counts = namesOf(flag, hours).map((name) => ({ name, count: sumOf(hours, countOf(name)) }));
  const most = counts.toSorted((one, other) => other.count - one.count).slice(0, maxVariants);
  const shown = counts.filter((each) => most.includes(each));
  const whole = sumOf(hours, ownCount);
  const offVariant = choiceOf(flag).off;
  let index = -1;
  const series = shown.map(({ name, count }): UsageSeries => {
    const countIn = countOf(name);
    const note = formatShare(count, whole);
    if (name === offVariant) return { name, note, color: off.color, countIn };
    index += 1;
    const color = colors[index % colors.length] ?? on.color;
    return { name, note, color, isStriped: index % 2 === 1, countIn };
  });
  // Variants beyond those, and evaluations whose variant was not reported.
  const rest = (hour: UsageHour) =>
    Math.max(0, ownCount(hour) - series.reduce((sum, { countIn }) => sum + countIn(hour), 0));
  const others = sumOf(hours, rest);
  if (others === 0) return series;
  const note = formatShare(others, whole);
  const color = "var(--mantine-color-dimmed)";
  return [...series, { name: "all others", note, color, isStriped: true, countIn: rest }];
};

/** Of the evaluations of this flag alone; with shares where rules decide them. */
export const seriesOf = (flag: Flag, hours: readonly UsageHour[]): readonly UsageSeries[] => {
  if (choiceOf(flag).variants !== onOrOff.variants) return variantSeries(flag, hours);
  if (hours.every(({ variants }) => variants === undefined)) return [on, off];
  const whole = sumOf(hours, ownCount);
  return [on, off].map((each) => ({
    ...each,
    note: formatShare(sumOf(hours, each.countIn), whole),
  }));
};
