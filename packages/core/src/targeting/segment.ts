// Segments: named groups of people of an environment, by list and by condition.
import { type EvaluationContext, isTargetingKey } from "../context.ts";
import { type Condition, compileCondition, type Test } from "./conditions/condition.ts";
import { isFalse, isTrue, isUnknown, opposite, type Truth, truthOf } from "./conditions/truth.ts";

interface SegmentBase {
  readonly key: string;
  /** Null when there is none. */
  readonly description: string | null;
  readonly when: Condition | null;
}

/** Both are lists of targeting keys. */
export const memberLists = ["include", "exclude"] as const;
export type MemberList = (typeof memberLists)[number];

export interface Segment extends SegmentBase {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** A segment without its members, of which there can be many. */
export interface SegmentSummary extends SegmentBase {
  readonly counts: Readonly<Record<MemberList, number>>;
}

export interface ListChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** A segment after a change, with what the change has added to its lists and taken out of them. */
export interface SegmentChange extends SegmentSummary {
  readonly include?: ListChange;
  readonly exclude?: ListChange;
}

/** A segment in memory: what changes of its lists change in place. */
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

/** The state after a change; the lists of the one before it are changed in place. */
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

/** What is asked of a list of members. */
export type MemberSet = Pick<ReadonlySet<string>, "has" | "size">;

/** What decides who is in a segment. */
export interface SegmentTestable extends Record<MemberList, MemberSet>, Pick<SegmentBase, "when"> {}

/** Whether the context's targeting key is in a list: a list that is not empty needs one. */
const inList = (keys: MemberSet, { targetingKey }: EvaluationContext): Truth => {
  if (keys.size === 0) return isFalse;
  return isTargetingKey(targetingKey) ? truthOf(keys.has(targetingKey)) : isUnknown;
};

/** In when not excluded and either included or matched. Made once for all flags that name it. */
export const compileSegment = ({ include, exclude, when }: SegmentTestable): Test => {
  // Checked when it was saved: a segment names no other.
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
