// What a store tells of segments, and of an environment as a whole.
import type { MemberList, Segment } from "@halyard/core/targeting/segment";
import type { VersionedFlag, VersionedSegment } from "../writes/change.ts";

/** A segment with all its members. */
export interface WholeSegment {
  readonly segment: Segment;
  readonly version: number;
}

/** An environment as it is at a revision. */
export interface EnvironmentContent {
  readonly revision: number;
  /** When the revision was made; null before the first change. */
  readonly changedAt: Date | null;
  readonly flags: readonly VersionedFlag[];
  readonly segments: readonly WholeSegment[];
}

export interface SegmentReads {
  /** Without their members, sorted by key. */
  segments(environmentId: number): Promise<readonly VersionedSegment[]>;
  segment(environmentId: number, key: string): Promise<VersionedSegment | undefined>;
  wholeSegment(environmentId: number, key: string): Promise<WholeSegment | undefined>;
  /** Those of the candidates that are in the list. */
  membersAmong(
    environmentId: number,
    key: string,
    list: MemberList,
    candidates: readonly string[],
  ): Promise<readonly string[]>;
}
