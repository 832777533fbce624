// Two sides measured in turns in the same run: what a noisy machine does to one, it does to the other.
import { figure, median, nth, table } from "./report.ts";

export type Measure = () => Promise<number>;
export interface Sides {
  readonly ours: Measure;
  readonly theirs: Measure;
}
export interface StartedSides extends Sides {
  stop(): Promise<void>;
}
type Rates = readonly [ours: number[], theirs: number[]];

const show = (value: number): string =>
  value < 100 ? value.toFixed(2) : Math.round(value).toString();

/** A round that does not count comes first, and who goes first changes from round to round. */
const takeTurns = async (rounds: number, { ours, theirs }: Sides, rates: Rates): Promise<void> => {
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const rate = await (side === 0 ? ours : theirs)();
      if (round > 0) rates[side].push(rate);
    }
  }
};

const pairTable = (first: string, second: string, unit: string) => {
  const row = table("", first, second, "median of the ratios", "spread of the rounds");
  return (what: string, name: string, rates: Rates): void => {
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

/** A table of pairs that are there already. */
export const pairs = (rounds: number, first: string, second: string, unit = "/s") => {
  const add = pairTable(first, second, unit);
  return async (what: string, name: string, ours: Measure, theirs: Measure): Promise<void> => {
    const rates: Rates = [[], []];
    await takeTurns(rounds, { ours, theirs }, rates);
    add(what, name, rates);
  };
};

/** A table of pairs that are started several times: how the engine compiles what it runs differs from one process to the next. */
export const startedPairs = (rounds: number, starts: number, first: string, second: string) => {
  const add = pairTable(first, second, "/s");
  return async (what: string, name: string, start: () => Promise<StartedSides>): Promise<void> => {
    const rates: Rates = [[], []];
    for (let nr = 0; nr < starts; nr += 1) {
      const sides = await start();
      await takeTurns(Math.ceil(rounds / starts), sides, rates);
      await sides.stop();
    }
    add(what, name, rates);
  };
};
