// An environment as it was at a time or a revision: exact, also after deletion, from what is there now and the changes since.
import { type Flag, levelOf } from "@halyard/core/flags/registry";
import { isFlagKey } from "@halyard/core/flags/rules";
import {
  memberLists,
  type Segment,
  type SegmentChange,
  type SegmentState,
  type SegmentSummary,
  segmentOf,
  stateOf,
} from "@halyard/core/targeting/segment";
import type { WholeSegment } from "../../evaluation/content.ts";
import type { EnvironmentFlags } from "../../evaluation/flag-reads.ts";
import type { EnvironmentRef } from "../../platform/auth/principal.ts";
import type { Store } from "../../platform/database/store.ts";
import { conflict, invalid, noEnvironment, ok, type Result } from "../../platform/errors.ts";
import {
  segmentSummaryOf,
  type VersionedFlag,
  type VersionedSegment,
} from "../../writes/change.ts";
import type { FirstChange } from "../../writes/history-entry.ts";
import {
  countRevisions,
  findFirstDeletion,
  findRevisionAt,
  findRevisionTime,
  listChangesBack,
  listFirstChanges,
} from "./past-queries.ts";

export type When = { readonly at: Date } | { readonly revision: number };

/** An environment as it was. */
export interface Then {
  readonly revision: number;
  /** When the revision was made; null before the first, and when history no longer has it. */
  changedAt(): Promise<Date | null>;
  /** Sorted by key. */
  flags(): Promise<readonly VersionedFlag[]>;
  flag(key: string): Promise<VersionedFlag | undefined>;
  /** Without their members, sorted by key. */
  segments(): Promise<readonly VersionedSegment[]>;
  wholeSegment(key: string): Promise<WholeSegment | undefined>;
}

/** What `read` makes of the environment as it was; a conflict when history no longer has all that it takes. */
export type Past = <T>(
  environment: EnvironmentRef,
  when: When,
  read: (then: Then) => Promise<T>,
) => Promise<Result<T>>;

/** Takes a change of the lists back, in place. */
const undo = (state: SegmentState, before: SegmentSummary, change: SegmentChange): SegmentState => {
  for (const list of memberLists) {
    for (const each of change[list]?.added ?? []) state[list].delete(each);
    for (const each of change[list]?.removed ?? []) state[list].add(each);
  }
  const { description, when } = before;
  return { ...state, description, when };
};

const sorted = (segment: Segment): Segment => ({
  ...segment,
  include: segment.include.toSorted(),
  exclude: segment.exclude.toSorted(),
});

const flagBefore = ({ before, version, level }: FirstChange): VersionedFlag | undefined => {
  if (before === null) return undefined;
  const flag = before as Flag;
  return { flag, version: version - 1, level: levelOf(flag, level) };
};

const byKey = <T>(entries: ReadonlyMap<string, T>): readonly T[] =>
  [...entries].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, entry]) => entry);

/** What is there now, with what the changes since have found in its place. */
const withFirst = <T>(
  now: ReadonlyMap<string, T>,
  changes: readonly FirstChange[],
  before: (change: FirstChange) => T | undefined,
): readonly T[] => {
  const then = new Map(now);
  for (const change of changes) {
    const found = before(change);
    if (found === undefined) then.delete(change.key);
    else then.set(change.key, found);
  }
  return byKey(then);
};

/** One environment in memory. */
export interface PastMemory {
  readonly get: (environmentId: number) =>
    | (Pick<EnvironmentFlags, "revision" | "get" | "all"> & {
        segments(): readonly { readonly state: SegmentState; readonly version: number }[];
      })
    | undefined;
  readonly current: () => Promise<void>;
}

export const createPast = (store: Store, { get, current }: PastMemory): Past => {
  const thenOf = (id: number, revision: number): Then => {
    const firstOf = async (kind: "flag" | "segment", key: string) =>
      (await listFirstChanges(store, id, kind, revision, key))[0];

    return {
      revision,
      changedAt: () => findRevisionTime(store, id, revision),

      // Everywhere: first what is there now, then the changes, so that none in between is missed.
      async flags() {
        const now = new Map((get(id)?.all() ?? []).map((each) => [each.flag.key, each]));
        return withFirst(now, await listFirstChanges(store, id, "flag", revision), flagBefore);
      },

      async flag(key) {
        if (!isFlagKey(key)) return undefined;
        const now = get(id)?.get(key);
        const first = await firstOf("flag", key);
        return first ? flagBefore(first) : now;
      },

      async segments() {
        const now = new Map((await store.segments(id)).map((each) => [each.segment.key, each]));
        const changes = await listFirstChanges(store, id, "segment", revision);
        return withFirst(now, changes, ({ before, version }) =>
          before === null
            ? undefined
            : {
                segment: segmentSummaryOf(before as SegmentSummary | Segment),
                version: version - 1,
              },
        );
      },

      async wholeSegment(key) {
        if (!isFlagKey(key)) return undefined;
        // Its lists change in place, so this is a copy.
        const found = get(id)
          ?.segments()
          .find(({ state }) => state.key === key);
        const now = found && { segment: segmentOf(found.state), version: found.version };
        const first = await firstOf("segment", key);
        if (!first) return now && { ...now, segment: sorted(now.segment) };
        if (first.before === null) return undefined;
        // Whoever deletes a segment leaves it whole in history.
        const deletion = await findFirstDeletion(store, id, key, revision);
        const whole = deletion
          ? { segment: deletion.before as Segment, version: deletion.version - 1 }
          : now;
        if (!whole) return undefined;
        let state = stateOf(whole.segment);
        let { version } = whole;
        while (version >= first.version) {
          const changes = await listChangesBack(store, id, key, revision, version);
          // A change is missing: what was read is of no use, and `past` says so.
          if (changes[0]?.version !== version) return undefined;
          for (const { before, after } of changes) {
            state = undo(state, before as SegmentSummary, after as SegmentChange);
            version -= 1;
          }
        }
        return { segment: sorted(segmentOf(state)), version };
      },
    };
  };

  return async ({ id, name }, when, read) => {
    await current();
    const last = get(id)?.revision;
    if (last === undefined) return noEnvironment;
    if ("revision" in when && when.revision > last) {
      return invalid("revision", `must be at most ${last}, the revision of now`);
    }
    const revision = "revision" in when ? when.revision : await findRevisionAt(store, id, when.at);
    if (revision === undefined && "at" in when) {
      return conflict(
        `The environment "${name}" was not there yet at ${when.at.toISOString()}: its history begins later.`,
      );
    }
    const value = await read(thenOf(id, revision ?? 0));
    // Afterwards, since history may be pruned meanwhile.
    const kept = await countRevisions(store, id, revision ?? 0, last);
    if (kept < last - (revision ?? 0)) {
      return conflict(
        `The history of the environment "${name}" no longer has all changes since revision ${revision}, so what it was then cannot be told.`,
      );
    }
    return ok(value);
  };
};
