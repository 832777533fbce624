// The kinds of things whose changes make a revision of an environment. Streams, snapshots and history carry them.
import type { Flag } from "./flags/registry.ts";

/** What a change of each kind leaves. */
export interface KindValues {
  readonly flag: Flag;
}
export type Kind = keyof KindValues;

/** How each kind is called in snapshots and events. A kind that is missing here does not compile. */
export const kinds = {
  flag: { list: "flags", member: "flag", event: "change" },
} as const satisfies Readonly<
  Record<Kind, { readonly list: string; readonly member: string; readonly event: string }>
>;
export const kindNames = Object.keys(kinds) as Kind[];

/** False for a kind of a newer version. */
export const isKind = (name: string): name is Kind => Object.hasOwn(kinds, name);
