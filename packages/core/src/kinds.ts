// The kinds of things whose changes make a revision of an environment. Streams, snapshots and history carry them.
import type { Flag } from "./flags/registry.ts";
import type { Segment, SegmentChange } from "./targeting/segment.ts";

/** What a change of each kind leaves. */
export interface KindValues {
  readonly flag: Flag;
  readonly segment: SegmentChange;
}
export type Kind = keyof KindValues;

/** What a snapshot has of each kind. */
export interface SnapshotValues extends Readonly<Record<Kind, unknown>> {
  readonly flag: Flag;
  readonly segment: Segment;
}

/** How each kind is called in snapshots and events. A kind that is missing here does not compile. */
export const kinds = {
  flag: { list: "flags", member: "flag", event: "change" },
  segment: { list: "segments", member: "segment", event: "segment" },
} as const satisfies Readonly<
  Record<Kind, { readonly list: string; readonly member: string; readonly event: string }>
>;
export const kindNames = Object.keys(kinds) as Kind[];

/** False for a kind of a newer version. */
export const isKind = (name: string): name is Kind => Object.hasOwn(kinds, name);
