// Two sides measured in turns in the same run: a noisy machine affects both.
import { median, ratioCells, table } from "./report.ts";

/** Returns requests a second. */
type Measure = () => Promise<number>;

const perSecond = (rates: readonly number[]): string => `${Math.round(median(rates))} /s`;

/** A table of pairs. A warm-up round comes first, and the side that begins changes from round to round. */
export const comparison = (rounds: number, first: string, second: string) => {
  const row = table("", first, second, "median of the ratios", "spread of the rounds");
  return async (what: string, ours: Measure, theirs: Measure): Promise<void> => {
    const rates: [number[], number[]] = [[], []];
    for (let round = 0; round <= rounds; round += 1) {
      for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const rate = await (side === 0 ? ours : theirs)();
        if (round > 0) rates[side].push(rate);
      }
    }
    row(what, ...rates.map(perSecond), ...ratioCells(...rates));
  };
};
