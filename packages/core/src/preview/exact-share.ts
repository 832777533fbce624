// The exact share of all users whose value changes, if it can be computed from the flag alone.
import { isSameValue } from "../difference.ts";
import type { FlagValue } from "../evaluate.ts";
import { choiceOf, type Flag, isFlagTypeName } from "../flags/registry.ts";
import { allThousandths, fromThousandths, thousandthsOf } from "../percentage.ts";

interface Piece {
  /** The end of the piece, in thousandths of a percent. */
  readonly end: number;
  readonly value: FlagValue | undefined;
}

/** The values in bucket order; undefined if attributes or other flags decide. */
const piecesOf = (flag: Flag): readonly Piece[] | undefined => {
  if (!isFlagTypeName(flag.type)) return undefined;
  if (flag.rules !== undefined || flag.requires !== undefined || flag.bucketBy !== undefined) {
    return undefined;
  }
  const { variants, off, otherwise } = choiceOf(flag);
  const serve = flag.enabled ? otherwise : off;
  if (typeof serve === "string") return [{ end: allThousandths, value: variants[serve] }];
  let end = 0;
  const pieces = serve.map(({ variant, share }) => {
    end += thousandthsOf(share);
    return { end, value: variants[variant] };
  });
  return [...pieces, { end: allThousandths, value: variants[off] }];
};

const offOf = (flag: Flag): readonly Piece[] => {
  const { variants, off } = choiceOf(flag);
  return [{ end: allThousandths, value: variants[off] }];
};

const seedOf = ({ key, bucketSeed }: Flag): string => bucketSeed ?? key;

/** In percent. A missing flag counts as off. */
export const exactShareOf = (
  before: Flag | undefined,
  after: Flag | undefined,
): number | undefined => {
  const [from, to] = [before ?? after, after ?? before];
  if (from === undefined || to === undefined) return undefined;
  const left = before ? piecesOf(before) : offOf(from);
  const right = after ? piecesOf(after) : offOf(to);
  if (left === undefined || right === undefined) return undefined;
  // With another seed, the buckets before and after are independent, so the overlap is random.
  if (left.length > 1 && right.length > 1 && seedOf(from) !== seedOf(to)) return undefined;
  let changed = 0;
  let begin = 0;
  const ends = [...left, ...right].map(({ end }) => end).toSorted((one, other) => one - other);
  for (const end of ends) {
    const [was, is] = [left, right].map((pieces) => pieces.find((piece) => piece.end >= end));
    if (!isSameValue(was?.value, is?.value)) changed += end - begin;
    begin = end;
  }
  return fromThousandths(changed);
};
