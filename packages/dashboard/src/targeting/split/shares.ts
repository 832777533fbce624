// The shares of a split by variant: how changing one changes the others, and whom a change moves.
import { allThousandths, fromThousandths, thousandthsOf } from "@halyard/core/percentage";
import { isObject } from "@halyard/core/targeting/mistakes";
import type { Share } from "@halyard/core/targeting/split";
import type { Serve } from "@halyard/core/targeting/targeting";

export type Split = readonly Share[];

/** False of what somebody has typed as JSON, or a newer version has written. */
export const isServe = (value: unknown): value is Serve =>
  typeof value === "string" ||
  (Array.isArray(value) &&
    value.every(
      (each) =>
        isObject(each) && typeof each.variant === "string" && typeof each.share === "number",
    ));

/** In percent, by variant; each variant once, however often it stands in the split. */
export type Shares = Readonly<Record<string, number>>;

/** One variant for all is a share of everyone. */
export const splitOf = (serve: Serve): Split =>
  typeof serve === "string" ? [{ variant: serve, share: 100 }] : serve;

export const sharesOf = (split: Split): Shares => {
  const sums = new Map<string, number>();
  for (const { variant, share } of split) {
    sums.set(variant, (sums.get(variant) ?? 0) + thousandthsOf(share));
  }
  return Object.fromEntries([...sums].map(([variant, sum]) => [variant, fromThousandths(sum)]));
};

/** Of thousandths, so that no sum of decimals is a little off. */
export const sumOf = (shares: Shares): number =>
  fromThousandths(Object.values(shares).reduce((sum, share) => sum + thousandthsOf(share), 0));

/**
 * The shares with this one set. What it gains or loses is first taken from those who get nothing yet, if that is
 * allowed, then from the variants after it, then from those before it.
 */
export const withShare = (
  shares: Shares,
  names: readonly string[],
  variant: string,
  share: number,
  isWhole: boolean,
): Shares => {
  const at = names.indexOf(variant);
  const wanted = Math.min(Math.max(thousandthsOf(share), 0), allThousandths);
  const next = new Map(names.map((name) => [name, thousandthsOf(shares[name] ?? 0)]));
  next.set(variant, wanted);
  const others = [...names.slice(at + 1), ...names.slice(0, at).reverse()];
  const sum = () => [...next.values()].reduce((total, each) => total + each, 0);
  let excess = sum() - allThousandths;
  const neighbour = others[0];
  if (excess < 0 && isWhole && neighbour !== undefined) {
    next.set(neighbour, (next.get(neighbour) ?? 0) - excess);
  }
  for (const other of others) {
    const taken = Math.min(Math.max(excess, 0), next.get(other) ?? 0);
    next.set(other, (next.get(other) ?? 0) - taken);
    excess -= taken;
  }
  return Object.fromEntries([...next].map(([name, each]) => [name, fromThousandths(each)]));
};

/** As even as thousandths of a percent allow. */
export const evenShares = (names: readonly string[]): Shares => {
  const each = Math.floor(allThousandths / names.length);
  const left = allThousandths - each * names.length;
  return Object.fromEntries(
    names.map((name, index) => [name, fromThousandths(each + (index < left ? 1 : 0))]),
  );
};

export interface Move {
  /** Undefined for those whom the split does not reach. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly share: number;
}

interface Piece {
  readonly end: number;
  readonly variant: string | undefined;
}

const laidOut = (split: Split): readonly Piece[] => {
  let end = 0;
  const pieces = split.map(({ variant, share }): Piece => {
    end += thousandthsOf(share);
    return { end, variant };
  });
  return [...pieces, { end: Math.max(end, allThousandths), variant: undefined }];
};

/** Who gets another variant than before, the largest group first. */
export const movesBetween = (before: Split, after: Split): readonly Move[] => {
  const [was, will] = [laidOut(before), laidOut(after)];
  const moved = new Map<string, Move>();
  let start = 0;
  for (let one = 0, other = 0; one < was.length && other < will.length; ) {
    const [{ end: oneEnd, variant: from }, { end: otherEnd, variant: to }] = [
      was[one] as Piece,
      will[other] as Piece,
    ];
    const end = Math.min(oneEnd, otherEnd);
    if (from !== to && end > start) {
      const name = JSON.stringify([from, to]);
      const sum = thousandthsOf(moved.get(name)?.share ?? 0) + end - start;
      moved.set(name, { from, to, share: fromThousandths(sum) });
    }
    start = end;
    if (oneEnd === end) one += 1;
    if (otherEnd === end) other += 1;
  }
  return [...moved.values()].sort((one, other) => other.share - one.share);
};
