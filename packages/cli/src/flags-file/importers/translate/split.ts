// Splits of other products: weights, and the attribute and seed that select users.
import { allThousandths, fromThousandths, thousandthsOf } from "@halyard/core/percentage";
import type { Share } from "@halyard/core/targeting/split";
import { CannotTranslate } from "./logic.ts";
import { notAPercentage } from "./percentage.ts";

export interface Split {
  /** In percent, greater than zero, with a sum of at most 100. Users outside the shares fall through to the next rule. */
  readonly shares: readonly Share[];
  /** The attribute to split by; undefined for the targeting key. */
  readonly by?: string | undefined;
  /** Hashed together with the attribute; undefined for the flag's own seed. */
  readonly seed?: string | undefined;
  /** Conditions for the split to be exact, such as "targetingKey is present". */
  readonly exactIf?: readonly string[];
}

interface Weight {
  readonly variant: string;
  readonly weight: number;
}

/** Weights such as 0.3334 are not exact as numbers, so tolerate a billionth of a percent. */
const nearly = 1e-6;

/** Converts weights of all users, or of a percentage of them. Fails if the result is not exact. */
export const sharesOf = (
  weights: readonly Weight[],
  whole = weights.reduce((sum, { weight }) => sum + weight, 0),
  part = 100,
): Share[] =>
  weights
    .filter(({ weight }) => weight > 0)
    .map(({ variant, weight }) => {
      const exact = (weight / whole) * thousandthsOf(part);
      const thousandths = Math.round(exact);
      if (!Number.isFinite(exact) || Math.abs(exact - thousandths) > nearly || thousandths === 0) {
        const found = part === 100 ? `${weight} / ${whole}` : `${weight} / ${whole} of ${part}%`;
        throw new CannotTranslate(notAPercentage(found));
      }
      return { variant, share: fromThousandths(thousandths) };
    });

export const sumOf = (shares: readonly Share[]): number =>
  fromThousandths(shares.reduce((sum, { share }) => sum + thousandthsOf(share), 0));

/** A single variant for everyone, regardless of the hash. */
export const isForAll = ([first, ...others]: readonly Share[]): boolean =>
  first === undefined || (first.share === 100 && others.length === 0);

export const isPartial = ({ shares }: Split): boolean => sumOf(shares) < 100;

/** The shares of the first split, and those of the second for the remaining users. */
export const layered = (first: readonly Share[], second: string | readonly Share[]): Share[] => {
  const start = thousandthsOf(sumOf(first));
  if (typeof second === "string") {
    const rest = { variant: second, share: fromThousandths(allThousandths - start) };
    return [...first, ...(rest.share > 0 ? [rest] : [])];
  }
  let from = 0;
  const cut = second.flatMap(({ variant, share }) => {
    const to = from + thousandthsOf(share);
    const length = to - Math.max(from, start);
    from = to;
    return length > 0 ? [{ variant, share: fromThousandths(length) }] : [];
  });
  return [...first, ...cut];
};
