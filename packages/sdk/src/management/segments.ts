// Segments, and changes of several flags together, as requests and responses contain them.
import type { EvaluationContext } from "@halyard/core/context";
import type { Evaluation } from "@halyard/core/evaluate";
import type { Flag } from "@halyard/core/flags/registry";
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import type { Explanation as Steps } from "@halyard/core/targeting/explain";
import type { Segment, SegmentSummary } from "@halyard/core/targeting/segment";
import type { FlagPatch } from "./resources.ts";

export interface NewSegment {
  readonly key: string;
  readonly description?: string | null;
  /** Targeting keys. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly when?: Condition | null;
}

/** Each field that is set is replaced as a whole. */
export type SegmentPatch = Omit<NewSegment, "key">;

export interface MemberChanges {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

export interface SegmentMembers {
  readonly include?: MemberChanges;
  readonly exclude?: MemberChanges;
}

/** A flag that references a segment, and the rules that do. */
export interface SegmentUse {
  readonly key: string;
  readonly rules: readonly string[];
}

export interface FlagChange {
  /** The key of the flag. */
  readonly flag: string;
  /** Only when the flag is at this version. */
  readonly ifMatch?: string;
  readonly patch: FlagPatch;
}

export interface ChangedFlags {
  readonly changes: readonly { readonly flag: Flag; readonly version: number }[];
}

/** At most one of `patch`, `at` and `revision`. */
export interface ExplainRequest {
  readonly context: EvaluationContext;
  /** The fields of the flag to change for the explanation. */
  readonly patch?: FlagPatch;
  /** Explains the decision at this time; ISO 8601. */
  readonly at?: string;
  readonly revision?: number;
}

export type FlagExplanation = Evaluation &
  Omit<Steps, "decision"> & { readonly revision: number; readonly flag: Flag };

/** What `GET /snapshot` returns; a client takes it as `bootstrap`. */
export interface SnapshotContent {
  readonly environment: string;
  readonly revision: number;
  /** When the revision was made; null before the first change, and when history no longer has it. */
  readonly at: string | null;
  readonly flags: readonly {
    readonly version: number;
    readonly flag: Flag;
    readonly level?: number;
  }[];
  /** Absent when there are none. */
  readonly segments?: readonly { readonly version: number; readonly segment: Segment }[];
}

export type { Segment, SegmentSummary };
