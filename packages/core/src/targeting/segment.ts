// Segments: named groups of users of an environment, by list and by condition.
import { type EvaluationContext, isTargetingKey } from "../context.ts";
import { type Condition, compileCondition, type Test } from "./conditions/condition.ts";
import { isFalse, isTrue, isUnknown, opposite, type Truth, truthOf } from "./conditions/truth.ts";

interface SegmentBase {
  readonly key: string;
  /** Null if there is none. */
  readonly description: string | null;
  readonly when: Condition | null;
}

/** The lists of targeting keys. */
export const memberLists = ["include", "exclude"] as const;
export type MemberList = (typeof memberLists)[number];

export interface Segment extends SegmentBase {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** A segment without its members, which can be many. */
export interface SegmentSummary extends SegmentBase {
  readonly counts: Readonly<Record<MemberList, number>>;
}

export interface ListChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** A segment after a change, with the members that the change added and removed. */
export interface SegmentChange extends SegmentSummary {
  readonly include?: ListChange;
  readonly exclude?: ListChange;
}

/** A segment in memory. Changes of its lists are applied in place. */
export interface SegmentState extends SegmentBase {
  readonly include: Set<string>;
  readonly exclude: Set<string>;
}

export const stateOf = (segment: Segment): SegmentState => ({
  ...segment,
  include: new Set(segment.include),
  exclude: new Set(segment.exclude),
});

export const segmentOf = ({ key, description, include, exclude, when }: SegmentState): Segment => ({
  key,
  description,
  include: [...include],
  exclude: [...exclude],
  when,
});

/** Applies a change to the lists in place, and returns the new state. */
export const applyToState = (
  before: SegmentState | undefined,
  { key, description, when, include, exclude }: SegmentChange,
): SegmentState => {
  const apply = (members: Set<string> = new Set(), change?: ListChange): Set<string> => {
    for (const each of change?.removed ?? []) members.delete(each);
    for (const each of change?.added ?? []) members.add(each);
    return members;
  };
  return {
    key,
    description,
    when,
    include: apply(before?.include, include),
    exclude: apply(before?.exclude, exclude),
  };
};

/** The membership test of a list. */
export type MemberSet = Pick<ReadonlySet<string>, "has" | "size">;

/** The values that decide membership. */
export interface SegmentTestable extends Record<MemberList, MemberSet>, Pick<SegmentBase, "when"> {}

/** Whether the list contains the context's targeting key. A non-empty list needs one. */
const inList = (keys: MemberSet, { targetingKey }: EvaluationContext): Truth => {
  if (keys.size === 0) return isFalse;
  return isTargetingKey(targetingKey) ? truthOf(keys.has(targetingKey)) : isUnknown;
};

/** Excluded users are out; included users and users who match the condition are in. Compiled once for all flags. */
export const compileSegment = ({ include, exclude, when }: SegmentTestable): Test => {
  // A segment can't reference another segment.
  const test = when === null ? undefined : compileCondition(when, () => undefined);
  return (context, turn) => {
    const allowed = opposite(inList(exclude, context));
    if (allowed === isFalse) return isFalse;
    let truth = inList(include, context);
    if (truth !== isTrue && test !== undefined)
      truth = Math.max(truth, test(context, turn)) as Truth;
    return Math.min(allowed, truth) as Truth;
  };
};
