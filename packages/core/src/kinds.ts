// The kinds of objects whose changes create a revision of an environment. Streams, snapshots and history contain them.
import type { Flag } from "./flags/registry.ts";
import type { Segment, SegmentChange } from "./targeting/segment.ts";

/** The value after a change, by kind. */
export interface KindValues {
  readonly flag: Flag;
  readonly segment: SegmentChange;
}
export type Kind = keyof KindValues;

/** The values in a snapshot, by kind. */
export interface SnapshotValues extends Readonly<Record<Kind, unknown>> {
  readonly flag: Flag;
  readonly segment: Segment;
}

/** The names of each kind in snapshots and events. Leaving out a kind is a compile error. */
export const kinds = {
  flag: { list: "flags", member: "flag", event: "change" },
  segment: { list: "segments", member: "segment", event: "segment" },
} as const satisfies Readonly<
  Record<Kind, { readonly list: string; readonly member: string; readonly event: string }>
>;
export const kindNames = Object.keys(kinds) as Kind[];

/** False for kinds of a newer version. */
export const isKind = (name: string): name is Kind => Object.hasOwn(kinds, name);
