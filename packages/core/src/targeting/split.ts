// Splits: shares of people, laid end to end in their order, and how to change the shares so that the fewest people move.
import { hashLimit } from "../bucket.ts";
import { allThousandths, fromThousandths, isPercentage, thousandthsOf } from "../percentage.ts";
import { isObject, refuseOthers, type ValidationErrors } from "./mistakes.ts";

export interface Share {
  readonly variant: string;
  /** In percent, 0.001 to 100. */
  readonly share: number;
}

const maxShares = 100;

/** Finds the share of a hash; `shares.length` when it is in none. */
export type FindShare = (hash: number) => number;

export const compileSplit = (shares: readonly Share[]): FindShare => {
  let sum = 0;
  const limits = shares.map(({ share }) => {
    sum += thousandthsOf(share);
    return hashLimit(sum);
  });
  return (hash) => {
    let index = 0;
    while (index < limits.length && hash >= (limits[index] ?? 0)) index += 1;
    return index;
  };
};

/** `wanted`: how much they must add up to; undefined for at most everyone. */
export const checkSplit = (
  shares: readonly unknown[],
  place: string,
  isVariant: (name: unknown) => boolean,
  errors: ValidationErrors,
  wanted?: number,
): void => {
  if (shares.length === 0 || shares.length > maxShares) {
    errors.add(place, `must have 1 to ${maxShares} shares`);
    return;
  }
  let sum = 0;
  for (const [index, each] of shares.entries()) {
    if (errors.isFull()) return;
    const at = `${place}[${index}]`;
    if (!isObject(each)) {
      errors.add(at, "must be an object with variant and share");
      continue;
    }
    refuseOthers(each, ["variant", "share"], at, errors);
    if (!isVariant(each.variant)) errors.add(`${at}.variant`, "must be a variant of the flag");
    if (isPercentage(each.share) && each.share > 0) sum += thousandthsOf(each.share);
    else
      errors.add(`${at}.share`, "must be a number from 0.001 to 100 with at most three decimals");
  }
  if (wanted !== undefined && sum !== thousandthsOf(wanted)) {
    errors.add(place, `must add up to ${wanted}, not to ${fromThousandths(sum)}`);
  } else if (sum > allThousandths) {
    errors.add(place, `must add up to at most 100, not to ${fromThousandths(sum)}`);
  }
};

interface Piece {
  /** Undefined for a gap that has to be filled. */
  variant: string | undefined;
  readonly length: number;
}

const merge = (pieces: readonly Piece[]): Piece[] => {
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (last?.variant === piece.variant && last !== undefined) {
      merged[merged.length - 1] = { ...last, length: last.length + piece.length };
    } else if (piece.length > 0) merged.push({ ...piece });
  }
  return merged;
};

/** The pieces within the first `total` thousandths; what is missing at the end is a gap. */
const within = (pieces: readonly Piece[], total: number): Piece[] => {
  let left = total;
  const kept = pieces.map(({ variant, length }) => {
    const part = Math.min(length, left);
    left -= part;
    return { variant, length: part };
  });
  return [...kept, { variant: undefined, length: left }];
};

/**
 * A split with the wanted shares, of a split or of none, that moves the fewest people: whoever has a variant that keeps
 * or gains people keeps it, so raising a share takes nobody out.
 */
export const recut = (
  current: readonly Share[],
  wanted: Readonly<Record<string, number>>,
): readonly Share[] => {
  const due = new Map(
    Object.entries(wanted).map(([variant, share]) => [variant, thousandthsOf(share)]),
  );
  const total = [...due.values()].reduce((sum, each) => sum + each, 0);
  const laid = current.map(({ variant, share }) => ({ variant, length: thousandthsOf(share) }));
  // Everyone keeps what they have, as far as there is still some of it to give.
  const kept = within(laid, total).flatMap(({ variant, length }): Piece[] => {
    const left = variant === undefined ? 0 : (due.get(variant) ?? 0);
    const stays = Math.min(left, length);
    if (variant !== undefined) due.set(variant, left - stays);
    return [
      { variant, length: stays },
      { variant: undefined, length: length - stays },
    ];
  });
  const filled = kept.flatMap((piece): Piece[] => {
    if (piece.variant !== undefined) return [piece];
    const parts: Piece[] = [];
    let { length } = piece;
    for (const [variant, left] of due) {
      const part = Math.min(left, length);
      length -= part;
      due.set(variant, left - part);
      parts.push({ variant, length: part });
    }
    return parts;
  });
  const pieces = merge(filled.filter(({ length }) => length > 0));
  // So many cuts are rare; then the order of the wanted shares is the simplest split there is.
  const isShort = pieces.length <= maxShares;
  const result = isShort
    ? pieces.map(({ variant = "", length }) => ({ variant, share: fromThousandths(length) }))
    : Object.entries(wanted).map(([variant, share]) => ({ variant, share }));
  return result.filter(({ share }) => share > 0);
};
