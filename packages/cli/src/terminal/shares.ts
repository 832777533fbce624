// Shares of users on the command line, such as `red=25,blue=75`, and the effect of changing them.

import { allThousandths, fromThousandths, thousandthsOf } from "@halyard/core/percentage";
import type { Share } from "@halyard/core/targeting/split";
import type { Serve } from "@halyard/core/targeting/targeting";
import { InvalidArgumentError } from "commander";
import { percentage } from "./option-values.ts";

const mustBe = "It must be variant=percentage, separated by commas, such as red=25,blue=75.";

const shareOf = (text: string): Share => {
  const [, variant, share] = /^([^=\s]+)=(.+)$/.exec(text.trim()) ?? [];
  if (variant === undefined || share === undefined) throw new InvalidArgumentError(mustBe);
  return { variant, share: percentage(share.trim()) };
};

/** Collects shares. Each argument can contain several. */
export const shares = (text: string, before: readonly Share[] = []): readonly Share[] => [
  ...before,
  ...text.split(",").map(shareOf),
];

/** A variant, or shares. */
export const serve = (text: string): Serve => {
  if (text.includes("=")) return shares(text);
  if (text.trim() === "")
    throw new InvalidArgumentError(`It must be a variant, or shares. ${mustBe}`);
  return text.trim();
};

/** A variant for everyone as shares. */
export const sharesOf = (served: Serve): readonly Share[] =>
  typeof served === "string" ? [{ variant: served, share: 100 }] : served;

/** Shares as a variant, if everyone gets the same one. */
export const serveOf = (given: readonly Share[]): Serve => {
  const [first, second] = given;
  return first?.share === 100 && second === undefined ? first.variant : given;
};

export interface Move {
  /** Undefined for users outside the shares. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  /** In percent. */
  readonly share: number;
}

interface Stretch {
  readonly variant: string | undefined;
  readonly end: number;
}

const stretchesOf = (given: readonly Share[]): readonly Stretch[] => {
  let end = 0;
  const laid: Stretch[] = given.map(({ variant, share }) => {
    end += thousandthsOf(share);
    return { variant, end };
  });
  return [...laid, { variant: undefined, end: allThousandths }];
};

/** The users whose variant changes, as shares of all users. */
export const movesBetween = (
  before: readonly Share[],
  after: readonly Share[],
): readonly Move[] => {
  const [old, now] = [stretchesOf(before), stretchesOf(after)];
  const moved = new Map<string, Move>();
  let [index, other, start] = [0, 0, 0];
  while (start < allThousandths) {
    const [one, two] = [old[index], now[other]];
    if (one === undefined || two === undefined) break;
    const end = Math.min(one.end, two.end);
    if (one.variant !== two.variant && end > start) {
      const name = JSON.stringify([one.variant, two.variant]);
      const sum = thousandthsOf(moved.get(name)?.share ?? 0) + end - start;
      moved.set(name, { from: one.variant, to: two.variant, share: fromThousandths(sum) });
    }
    start = Math.max(start, end);
    if (one.end === end) index += 1;
    if (two.end === end) other += 1;
  }
  return [...moved.values()];
};

const nameOf = (variant: string | undefined): string => variant ?? "later rules";

/** A sentence about the users whose variant changes. */
export const movesText = (moves: readonly Move[]): string => {
  const total = moves.reduce((sum, { share }) => sum + thousandthsOf(share), 0);
  if (total === 0) return "No users change variants.";
  const [only, second] = moves;
  const route = ({ from, to }: Move) => `from ${nameOf(from)} to ${nameOf(to)}`;
  if (only !== undefined && second === undefined) {
    return `${only.share}% of users move ${route(only)}.`;
  }
  const each = moves.map((move) => `${move.share}% ${route(move)}`);
  return `${fromThousandths(total)}% of users move: ${each.join(", ")}.`;
};
