// Segment + request -> what becomes of the segment and which events report it. Nothing is written here.
import { isSameValue } from "@halyard/core/difference";
import {
  checkMembersRequest,
  checkSegment,
  type MembersRequest,
  maxMembers,
} from "@halyard/core/targeting/check-segment";
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import {
  collectErrors,
  type Members,
  type ValidationErrors,
} from "@halyard/core/targeting/mistakes";
import {
  type ListChange,
  type MemberList,
  memberLists,
  type Segment,
  type SegmentChange,
  type SegmentSummary,
} from "@halyard/core/targeting/segment";
import { workOfSegment } from "@halyard/core/targeting/work";
import { conflict, ok, type Result, refused } from "../../platform/errors.ts";
import type { EnvironmentState, SegmentDecision, VersionedSegment } from "../../writes/change.ts";

export const maxSegments = 1_000;

export interface CreateSegment {
  readonly key: string;
  readonly description?: string | null;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly when?: Condition | null;
}
export type PatchSegment = Omit<CreateSegment, "key">;

/** What to do to the lists. The members that a request replaces whole are known to the store alone. */
export type ListChanges = { readonly [List in MemberList]?: ListChange };

const checked = (check: (errors: ValidationErrors) => void): Result<void> => {
  const errors = collectErrors();
  check(errors);
  return errors.found.length === 0 ? ok(undefined) : refused(errors.found);
};

export const checkCreateSegment = (request: CreateSegment): Result<void> =>
  checked((errors) => checkSegment(request as unknown as Members, errors, true));

export const checkPatchSegment = (patch: PatchSegment): Result<void> =>
  checked((errors) => checkSegment(patch as Members, errors, false));

export const checkMembers = (request: MembersRequest): Result<void> =>
  checked((errors) => checkMembersRequest(request as Members, errors));

const bytesOf = (texts: readonly string[]): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

const definitionBytes = (segment: Pick<SegmentSummary, "when" | "description"> | null): number =>
  segment === null ? 0 : Buffer.byteLength(JSON.stringify([segment.when, segment.description]));

const withLists = (
  segment: Omit<SegmentSummary, "counts">,
  counts: SegmentSummary["counts"],
  changes: ListChanges,
): SegmentChange => {
  const lists: { [List in MemberList]?: ListChange } = {};
  const after = { ...counts };
  for (const list of memberLists) {
    const { added = [], removed = [] } = changes[list] ?? {};
    if (added.length + removed.length > 0) lists[list] = { added, removed };
    after[list] += added.length - removed.length;
  }
  const { key, description, when } = segment;
  return { key, description, when, counts: after, ...lists };
};

const listBytes = (changes: ListChanges): number =>
  memberLists.reduce((sum, list) => {
    const { added = [], removed = [] } = changes[list] ?? {};
    return sum + bytesOf(added) - bytesOf(removed);
  }, 0);

const checkCounts = ({ key, counts }: SegmentSummary): Result<void> =>
  counts.include + counts.exclude <= maxMembers
    ? ok(undefined)
    : conflict(
        `The segment "${key}" would have ${counts.include + counts.exclude} members; at most ${maxMembers} are possible.`,
      );

export const decideCreateSegment = (
  environment: EnvironmentState,
  existing: VersionedSegment | undefined,
  lastVersion: number,
  request: CreateSegment,
): Result<SegmentDecision> => {
  const { key, description = null, when = null, include = [], exclude = [] } = request;
  if (existing) return conflict(`A segment with the key "${key}" already exists.`);
  if (environment.segmentCount >= maxSegments) {
    return conflict(
      `The environment "${environment.name}" has ${maxSegments} segments, the maximum; delete one first.`,
    );
  }
  const changes = {
    include: { added: [...new Set(include)], removed: [] },
    exclude: { added: [...new Set(exclude)], removed: [] },
  };
  const after = withLists({ key, description, when }, { include: 0, exclude: 0 }, changes);
  const fits = checkCounts(after);
  if (!fits.ok) return fits;
  return ok({
    kind: "segment",
    key,
    before: null,
    after,
    version: lastVersion + 1,
    level: undefined,
    bytes: definitionBytes(after) + listBytes(changes),
    work: workOfSegment(when),
    drafts: [{ type: "segment.created", previous: {} }],
    flags: [],
  });
};

/** The decision, or undefined when nothing changes. `changes` holds only what is not so already. */
export const decideUpdateSegment = (
  { segment: before, version }: VersionedSegment,
  patch: Pick<PatchSegment, "description" | "when">,
  changes: ListChanges,
  flags: readonly string[],
): Result<SegmentDecision | undefined> => {
  const { description = before.description, when = before.when } = patch;
  const after = withLists({ key: before.key, description, when }, before.counts, changes);
  const fits = checkCounts(after);
  if (!fits.ok) return fits;
  const previous = {
    ...(description !== before.description && { description: before.description }),
    ...(!isSameValue(when, before.when) && { when: before.when }),
    ...(!isSameValue(after.counts, before.counts) && { counts: before.counts }),
  };
  const isMoved = after.include !== undefined || after.exclude !== undefined;
  if (Object.keys(previous).length === 0 && !isMoved) return ok(undefined);
  return ok({
    kind: "segment",
    key: before.key,
    before,
    after,
    version: version + 1,
    level: undefined,
    bytes: definitionBytes(after) - definitionBytes(before) + listBytes(changes),
    work: workOfSegment(when) - workOfSegment(before.when),
    drafts: [{ type: "segment.updated", previous }],
    flags,
  });
};

export const decideDeleteSegment = (
  version: number,
  segment: Segment,
  flags: readonly string[],
): Result<SegmentDecision> => {
  if (flags.length > 0) {
    return conflict(
      `The segment "${segment.key}" is named by ${named(flags)}; take it out of them first.`,
    );
  }
  return ok({
    kind: "segment",
    key: segment.key,
    before: segment,
    after: null,
    version: version + 1,
    level: undefined,
    bytes: -definitionBytes(segment) - bytesOf(segment.include) - bytesOf(segment.exclude),
    work: -workOfSegment(segment.when),
    drafts: [{ type: "segment.deleted", previous: {} }],
    flags: [],
  });
};

const shown = 20;

/** Flags by name in a sentence, the first of them when there are many. */
export const named = (flags: readonly string[]): string => {
  const names = flags
    .slice(0, shown)
    .map((key) => `"${key}"`)
    .join(", ");
  const more = flags.length > shown ? ` and ${flags.length - shown} more` : "";
  return `the ${flags.length === 1 ? "flag" : "flags"} ${names}${more}`;
};
