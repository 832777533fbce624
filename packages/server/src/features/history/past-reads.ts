// Reads of flags and segments as they were, for those who ask for a time or a revision.

import type { WholeSegment } from "../../evaluation/content.ts";
import type { EnvironmentFlags } from "../../evaluation/flag-reads.ts";
import type { EnvironmentRef } from "../../platform/auth/principal.ts";
import { notFound, ok, type Result } from "../../platform/errors.ts";
import type { VersionedFlag, VersionedSegment } from "../../writes/change.ts";
import type { Past, Then, When } from "./past.ts";

/** What was read, and the revision that it is of. */
type AtRevision<T> = T & { readonly revision: number };

type PastFlags = Pick<EnvironmentFlags, "all" | "revision">;

export interface PastSnapshot {
  readonly revision: number;
  readonly changedAt: Date | null;
  readonly flags: readonly VersionedFlag[];
  /** One at a time, since each may be large. Throws when history is pruned meanwhile. */
  readonly segments: () => AsyncGenerator<WholeSegment, void, undefined>;
}

export interface AsItWas {
  list(environment: EnvironmentRef, when: When): Promise<Result<PastFlags>>;
  flag(
    environment: EnvironmentRef,
    when: When,
    key: string,
  ): Promise<Result<AtRevision<VersionedFlag>>>;
  segments(
    environment: EnvironmentRef,
    when: When,
  ): Promise<Result<AtRevision<{ readonly list: readonly VersionedSegment[] }>>>;
  segment(
    environment: EnvironmentRef,
    when: When,
    key: string,
  ): Promise<Result<AtRevision<WholeSegment>>>;
  snapshot(environment: EnvironmentRef, when: When): Promise<Result<PastSnapshot>>;
}

async function* wholes(then: Then, list: readonly VersionedSegment[]) {
  for (const { segment } of list) {
    const whole = await then.wholeSegment(segment.key);
    if (!whole) throw new Error(`the history of the segment "${segment.key}" was pruned meanwhile`);
    yield whole;
  }
}

export const createAsItWas = (past: Past): AsItWas => {
  const one = async <T>(
    environment: EnvironmentRef,
    when: When,
    what: string,
    key: string,
    read: (then: Then) => Promise<T | undefined>,
  ): Promise<Result<AtRevision<T>>> => {
    const found = await past(environment, when, async (then) => {
      const value = await read(then);
      const { revision } = then;
      return value
        ? ok({ ...value, revision })
        : notFound(`At revision ${revision}, the ${what}`, key);
    });
    return found.ok ? found.value : found;
  };

  return {
    list: (environment, when) =>
      past(environment, when, async (then) => {
        const flags = await then.flags();
        return { revision: then.revision, all: () => flags };
      }),

    flag: (environment, when, key) => one(environment, when, "flag", key, (then) => then.flag(key)),

    segments: (environment, when) =>
      past(environment, when, async (then) => ({
        revision: then.revision,
        list: await then.segments(),
      })),

    segment: (environment, when, key) =>
      one(environment, when, "segment", key, (then) => then.wholeSegment(key)),

    snapshot: (environment, when) =>
      past(environment, when, async (then) => {
        const { revision } = then;
        const [flags, list] = [await then.flags(), await then.segments()];
        const changedAt = await then.changedAt();
        return { revision, changedAt, flags, segments: () => wholes(then, list) };
      }),
  };
};
