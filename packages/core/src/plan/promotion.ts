// Copies flags from one environment to another: selects the fields to copy, and the segments that the flags need.
import { type Flag, flagTypeNames, ownMembersOf, targetingMembersOf } from "../flags/registry.ts";
import { namedSegments } from "../targeting/references.ts";
import type { Segment } from "../targeting/segment.ts";
import { type Lists, type Plan, planChanges } from "./plan.ts";
import { isSameSegment } from "./same-segment.ts";

/** For flags of all types, without the fields that are fixed at creation. */
export const copiedMembers: readonly string[] = [
  ...new Set([
    "enabled",
    ...flagTypeNames
      .flatMap(ownMembersOf)
      .flatMap(([name, { isFixed }]) => (isFixed ? [] : [name])),
    "description",
    ...targetingMembersOf(flagTypeNames[0] ?? "").map(([name]) => name),
  ]),
];

interface PromotionOptions {
  /** The keys of the flags; undefined for all flags and segments. */
  readonly keys?: ReadonlySet<string> | undefined;
  readonly members: readonly string[];
  /** Also delete selected flags that are not in `from`. */
  readonly prune?: boolean | undefined;
}

export interface Promotion extends Plan {
  /** Segments that the flags reference and that are different in the target. Other flags may use them, so they are not changed. */
  readonly otherSegments: readonly string[];
}

/** The segments to copy: those that the selected flags reference, and only if rules are copied. */
const segmentsFor = (
  flags: readonly Flag[],
  { keys, members }: PromotionOptions,
): ((lists: Lists) => readonly Segment[]) => {
  const named = new Set(flags.flatMap(namedSegments).map(({ key }) => key));
  const isTaken = ({ key }: Segment) =>
    members.includes("rules") && (keys === undefined || named.has(key));
  return ({ segments = [] }) => segments.filter(isTaken);
};

export const planPromotion = (from: Lists, to: Lists, options: PromotionOptions): Promotion => {
  const { keys, members, prune } = options;
  const select = ({ flags }: Lists): readonly Flag[] =>
    keys === undefined ? flags : flags.filter(({ key }) => keys.has(key));
  const flags = select(from);
  const segmentsOf = segmentsFor(flags, options);
  const [target, current] = [segmentsOf(from), segmentsOf(to)];
  const plan = planChanges(
    { segments: current, flags: select(to) },
    { segments: target, flags },
    { prune, members, keepSegments: keys !== undefined },
  );
  const there = new Map(current.map((segment) => [segment.key, segment]));
  const isOther = (segment: Segment): boolean => {
    const known = there.get(segment.key);
    return known !== undefined && !isSameSegment(known, segment);
  };
  const otherSegments = keys === undefined ? [] : target.filter(isOther).map(({ key }) => key);
  return { ...plan, otherSegments };
};
