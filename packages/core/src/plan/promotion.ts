// Copying flags from one environment to another: which members, and which segments come along.
import { type Flag, flagTypeNames, ownMembersOf, targetingMembersOf } from "../flags/registry.ts";
import { namedSegments } from "../targeting/references.ts";
import type { Segment } from "../targeting/segment.ts";
import { type Lists, type Plan, planChanges } from "./plan.ts";
import { isSameSegment } from "./same-segment.ts";

/** Of flags of all types, without what is fixed at creation. */
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
  /** The flags; undefined for all flags and segments. */
  readonly keys?: ReadonlySet<string> | undefined;
  readonly members: readonly string[];
  /** Also delete the chosen flags that are not in `from`. */
  readonly prune?: boolean | undefined;
}

export interface Promotion extends Plan {
  /** Segments that the flags name and that are different there. Other flags may name them, so they stay as they are. */
  readonly otherSegments: readonly string[];
}

/** The segments that come along: those that the chosen flags name, and only with the rules that name them. */
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
