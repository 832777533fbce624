// Two sides measured in turns in the same run: what a noisy machine does to one, it does to the other.
import { figure, median, nth, table } from "./report.ts";

export type Measure = () => Promise<number>;

const show = (value: number): string =>
  value < 100 ? value.toFixed(2) : Math.round(value).toString();

/** A table of pairs; a round that does not count comes first, and who goes first changes from round to round. */
export const pairs = (rounds: number, first: string, second: string, unit = "/s") => {
  const row = table("", first, second, "median of the ratios", "spread of the rounds");
  return async (what: string, name: string, ours: Measure, theirs: Measure): Promise<void> => {
    const rates: [number[], number[]] = [[], []];
    for (let round = 0; round <= rounds; round += 1) {
      for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const rate = await (side === 0 ? ours : theirs)();
        if (round > 0) rates[side].push(rate);
      }
    }
    const ratios = rates[0].map((rate, index) => rate / (rates[1][index] ?? 1));
    const [low, middle, high] = [0, 0.5, 1].map((share) => nth(ratios, share).toFixed(2));
    figure(name, median(ratios));
    row(
      what,
      ...rates.map((all) => `${show(median(all))} ${unit}`),
      middle ?? "",
      `${low} to ${high}`,
    );
  };
};
