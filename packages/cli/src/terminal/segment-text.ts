// Formats a segment and its changes as text.
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import {
  type MemberList,
  memberLists,
  type Segment,
  type SegmentChange,
} from "@halyard/core/targeting/segment";
import { inOneLine } from "./output.ts";
import { conditionText } from "./targeting-text.ts";

const listNames: Readonly<Record<MemberList, string>> = {
  include: "included",
  exclude: "excluded",
};

export const countsText = (counts: Readonly<Record<MemberList, number>>): string =>
  memberLists.map((list) => `${counts[list]} ${listNames[list]}`).join(", ");

const whenText = (when: Condition | null | undefined): string =>
  when === null || when === undefined ? "none" : conditionText(when);

/** One line, such as `2 included, 0 excluded, when plan in pro`. */
export const segmentText = ({ include, exclude, when }: Segment): string => {
  const counts = countsText({ include: include.length, exclude: exclude.length });
  return when === null ? counts : `${counts}, when ${conditionText(when)}`;
};

const descriptionText = (description: string | null | undefined): string =>
  description === null || description === undefined ? "none" : JSON.stringify(description);

type Rest = Pick<Segment, "description" | "when">;

/** Fields that are not lists. */
export const restChanges = (before: Partial<Rest>, after: Partial<Rest>): readonly string[] => {
  const pairs = [
    ["description", descriptionText(before.description), descriptionText(after.description)],
    ["when", whenText(before.when), whenText(after.when)],
  ] as const;
  return pairs
    .filter(([, old, now]) => old !== now)
    .map(([name, old, now]) => inOneLine(`${name} ${old} → ${now}`));
};

const maxNamed = 5;

const namesText = (sign: string, members: readonly string[]): readonly string[] => {
  const named = members.slice(0, maxNamed).join(", ");
  const more = members.length - maxNamed;
  if (members.length === 0) return [];
  return [`${sign}${members.length} (${named}${more > 0 ? ", …" : ""})`];
};

/** Such as `include +2 (ann, bob) -1 (eve)`. */
export const listChangeText = (
  list: MemberList,
  { added, removed }: { readonly added: readonly string[]; readonly removed: readonly string[] },
): string => inOneLine([list, ...namesText("+", added), ...namesText("-", removed)].join(" "));

/** The change of a history entry. */
export const segmentChanges = (before: object | null, after: object | null): readonly string[] => {
  if (after === null) return [];
  const change = after as SegmentChange;
  const lists = memberLists.flatMap((list) => {
    const listed = change[list];
    return listed === undefined ? [] : [listChangeText(list, listed)];
  });
  return [...restChanges((before ?? {}) as Partial<Rest>, change), ...lists];
};
