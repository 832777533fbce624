// The environment before a list of decisions, and after it: what is in memory, with what they change laid over it.
import { levelOf } from "@halyard/core/flags/registry";
import { flagsBelow, type Side, type SideFlag } from "@halyard/core/preview/side";
import type {
  ListChange,
  MemberSet,
  SegmentChange,
  SegmentTestable,
} from "@halyard/core/targeting/segment";
import type {
  Decision,
  FlagDecision,
  SegmentDecision,
  VersionedFlag,
} from "../../writes/change.ts";

/** One environment in memory. */
export interface PreviewMemory {
  readonly revision: number;
  get(key: string): VersionedFlag | undefined;
  segments(): readonly { readonly state: SegmentTestable & { readonly key: string } }[];
}

export interface Sides {
  readonly before: Side;
  readonly after: Side;
}

const noMembers: MemberSet = new Set();

/** Nothing is copied: lists can be long. */
const membersAfter = (before: MemberSet, change: ListChange | undefined): MemberSet => {
  if (change === undefined) return before;
  const [added, removed] = [new Set(change.added), new Set(change.removed)];
  return {
    has: (key) => added.has(key) || (!removed.has(key) && before.has(key)),
    get size() {
      return before.size + added.size - removed.size;
    },
  };
};

const segmentAfter = (
  before: SegmentTestable | undefined,
  { when, include, exclude }: SegmentChange,
): SegmentTestable => ({
  when,
  include: membersAfter(before?.include ?? noMembers, include),
  exclude: membersAfter(before?.exclude ?? noMembers, exclude),
});

const flagSides = (memory: PreviewMemory, decisions: readonly FlagDecision[]) => {
  const before = new Map<string, SideFlag | undefined>();
  const after = new Map<string, SideFlag | undefined>();
  for (const decision of decisions) {
    const { key, level } = decision;
    if (!before.has(key)) {
      const flag = decision.before ?? undefined;
      before.set(key, flag && { flag, level: levelOf(flag, memory.get(key)?.level) });
    }
    after.set(key, decision.after ? { flag: decision.after, level } : undefined);
  }
  return { before, after };
};

const segmentSides = (memory: PreviewMemory, decisions: readonly SegmentDecision[]) => {
  const before = new Map<string, SegmentTestable>(
    memory.segments().map(({ state }) => [state.key, state]),
  );
  const after = new Map(before);
  for (const { key, after: change } of decisions) {
    if (change === null) after.delete(key);
    else after.set(key, segmentAfter(after.get(key), change));
  }
  return { before, after };
};

/** Reads a flag once, so that what others change meanwhile is on both sides or on none. */
const sideOf = (
  memory: PreviewMemory,
  flags: Map<string, SideFlag | undefined>,
  segments: ReadonlyMap<string, SegmentTestable>,
): Side => ({
  flag(key) {
    if (!flags.has(key)) flags.set(key, memory.get(key));
    return flags.get(key);
  },
  segment: (key) => segments.get(key),
});

/** `keys` are the flags that will be looked at: they are read now, with all that they require. */
export const sidesOf = (
  memory: PreviewMemory,
  decisions: readonly Decision[],
  keys: readonly string[],
): Sides => {
  const flags = flagSides(
    memory,
    decisions.filter((each) => each.kind === "flag"),
  );
  const segments = segmentSides(
    memory,
    decisions.filter((each) => each.kind === "segment"),
  );
  const before = sideOf(memory, flags.before, segments.before);
  const after = sideOf(memory, flags.after, segments.after);
  for (const key of keys) {
    flagsBelow(before, key);
    flagsBelow(after, key);
  }
  return { before, after };
};
