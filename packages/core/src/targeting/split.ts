// Splits: shares of users in order, and how to change the shares so that the fewest users move.
import { hashLimit } from "../bucket.ts";
import { allThousandths, fromThousandths, isPercentage, thousandthsOf } from "../percentage.ts";
import { isObject, refuseOthers, type ValidationErrors } from "./mistakes.ts";

export interface Share {
  readonly variant: string;
  /** In percent, 0.001 to 100. */
  readonly share: number;
}

const maxShares = 100;

/** Finds the share that contains a hash; `shares.length` if none does. */
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

/** `wanted` is the required sum; undefined for at most 100%. */
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
    errors.add(place, `must add up to ${wanted}, not ${fromThousandths(sum)}`);
  } else if (sum > allThousandths) {
    errors.add(place, `must add up to at most 100, not ${fromThousandths(sum)}`);
  }
};

interface Piece {
  /** Undefined for a gap to fill. */
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

/** The pieces within the first `total` thousandths. The missing part at the end becomes a gap. */
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
 * Computes a split with the wanted shares that moves the fewest users. Users of a variant whose share does not shrink keep
 * it, so raising a share removes no user from it.
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
  // All users keep their variant as long as its share lasts.
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
  // Many cuts are rare. In that case, the order of the wanted shares is the simplest split.
  const isShort = pieces.length <= maxShares;
  const result = isShort
    ? pieces.map(({ variant = "", length }) => ({ variant, share: fromThousandths(length) }))
    : Object.entries(wanted).map(([variant, share]) => ({ variant, share }));
  return result.filter(({ share }) => share > 0);
};
