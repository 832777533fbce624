// Previews of changes, as responses carry them.
import type { Preview } from "@halyard/core/preview/preview";
import type { SegmentMembers, SegmentPatch } from "./segments.ts";

/** Whom a change would hit, of the contexts that flags were evaluated for lately. */
export interface ChangePreview extends Omit<Preview, "examples"> {
  /** The environment's revision that the change was tried on. */
  readonly revision: number;
  /** One context for each targeting key; null when sampling is off. */
  readonly sample: {
    readonly contexts: number;
    readonly since: string;
    readonly until: string;
    /** How many of them came with client keys. */
    readonly fromClientKeys: number;
  } | null;
  /** At most 20; absent for roles below admin. */
  readonly examples?: Preview["examples"];
}

/** What would be done to a segment. */
export type SegmentPreview =
  | { readonly patch: SegmentPatch }
  | { readonly members: SegmentMembers };
