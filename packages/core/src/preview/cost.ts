// The work of a preview, and the number of contexts to count if all of them would take too long.
import { workOfCondition } from "../targeting/work.ts";
import { conditionsOf, flagsBelow, type Side } from "./side.ts";

/** The maximum steps of a preview: a few seconds at most, since sampled contexts are small. */
export const maxCountedWork = 2_000_000_000;
/** Steps between two yields. */
export const sliceWork = 10_000;
/** Steps of a flag in addition to its conditions. */
const ofFlag = 20;

const workOn = (side: Side, key: string): number =>
  flagsBelow(side, key).reduce(
    (sum, flag) =>
      conditionsOf(side, flag).reduce((work, each) => work + workOfCondition(each), sum + ofFlag),
    0,
  );

/** Steps of one evaluation before the change and one after it. */
export const workOnBoth = (before: Side, after: Side, key: string): number =>
  Math.ceil(workOn(before, key) + workOn(after, key));

/** As many contexts as the work allows, at least one. They are chosen at even distances to remain a sample. */
export const someOf = <T>(
  list: readonly T[],
  workOfEach: number,
  maxWork: number,
): readonly T[] => {
  const count = Math.max(1, Math.floor(maxWork / Math.max(1, workOfEach)));
  if (list.length <= count) return list;
  const step = list.length / count;
  return Array.from({ length: count }, (_, index) => list[Math.floor(index * step)] as T);
};
