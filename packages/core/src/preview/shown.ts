// The part of the counted changes that a preview shows.
import type { EvaluationContext } from "../context.ts";
import { type Outcome, type Pair, type Shares, sharesOf, shown } from "./flips.ts";

const maxFlips = 20;
export const maxExamples = 20;

export interface Flip extends Shares {
  readonly from: Outcome;
  readonly to: Outcome;
  readonly count: number;
}

export interface PreviewedFlag extends Shares {
  readonly key: string;
  readonly changed: number;
  readonly unknown: number;
  /** In percent of all users, if it can be computed from the flag alone. */
  readonly exactShare?: number;
  /** Most frequent first. */
  readonly flips: readonly Flip[];
  readonly flipsLeftOut: number;
}

export interface PreviewExample {
  readonly flag: string;
  readonly context: EvaluationContext;
  readonly from: Outcome;
  readonly to: Outcome;
}

export interface Counted {
  readonly key: string;
  readonly pairs: readonly Pair[];
  readonly changed: number;
  readonly unknown: number;
  readonly attributes: readonly string[];
  readonly exactShare: number | undefined;
}

/** Merges parts of a split with the same result. */
const flipsOf = (pairs: readonly Pair[], of: number): readonly Flip[] => {
  const flips = new Map<string, { from: Outcome; to: Outcome; count: number }>();
  for (const { from, to, count } of pairs) {
    const flip = { from: shown(from), to: shown(to) };
    const name = JSON.stringify(flip);
    flips.set(name, { ...flip, count: count + (flips.get(name)?.count ?? 0) });
  }
  return [...flips.values()]
    .toSorted((one, other) => other.count - one.count)
    .map((flip) => ({ ...flip, ...sharesOf(flip.count, of) }));
};

/** One example of each changed evaluation, then a second of each, and so on. */
export const examplesOf = (
  counted: readonly Counted[],
  contexts: readonly EvaluationContext[],
): readonly PreviewExample[] => {
  const examples: PreviewExample[] = [];
  const flips = counted.flatMap(({ key, pairs }) => pairs.map((pair) => ({ key, pair })));
  for (let turn = 0; turn < maxExamples && examples.length < maxExamples; turn += 1) {
    for (const { key, pair } of flips) {
      const context = contexts[pair.examples[turn] ?? -1];
      if (context === undefined) continue;
      examples.push({ flag: key, context, from: shown(pair.from), to: shown(pair.to) });
      if (examples.length === maxExamples) break;
    }
  }
  return examples;
};

export const showFlag = (
  { key, pairs, changed, unknown, exactShare }: Counted,
  contexts: number,
): PreviewedFlag => {
  const flips = flipsOf(pairs, contexts - unknown);
  return {
    key,
    changed,
    unknown,
    ...sharesOf(changed, contexts - unknown),
    ...(exactShare !== undefined && { exactShare }),
    flips: flips.slice(0, maxFlips),
    flipsLeftOut: Math.max(0, flips.length - maxFlips),
  };
};
