// What differs between two segments, in text as well as in color.

import { memberLists, type Segment } from "@halyard/core/targeting/segment";
import { membersBetween } from "@halyard/sdk/segment-members";
import { FieldDiff } from "../components/display/field-diff.tsx";
import { conditionPhrase } from "../targeting/sentence.ts";
import { countOf } from "./plan-words.ts";

interface SegmentDiffProps {
  readonly before: Segment | null;
  readonly after: Segment | null;
}

const maxNamed = 5;

const namesOf = (members: readonly string[]): string => {
  const named = members.slice(0, maxNamed).join(", ");
  return members.length > maxNamed ? `${named}, …` : named;
};

/** "added 2 keys: ann, bob; removed 1 key: eve". */
const listText = (add: readonly string[], remove: readonly string[]): string | undefined => {
  const parts = [
    ...(add.length > 0 ? [`added ${countOf(add.length, "key")}: ${namesOf(add)}`] : []),
    ...(remove.length > 0 ? [`removed ${countOf(remove.length, "key")}: ${namesOf(remove)}`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join("; ");
};

const restOf = (segment: Segment | null) =>
  segment === null
    ? null
    : {
        description: segment.description,
        when: segment.when === null ? null : conditionPhrase(segment.when),
      };

/** Of a segment that is new or goes: how many it lists. */
const countsOf = (segment: Segment | null) =>
  segment &&
  Object.fromEntries(memberLists.map((list) => [list, countOf(segment[list].length, "key")]));

export const SegmentDiff = ({ before, after }: SegmentDiffProps) => {
  if (before === null || after === null) {
    const whole = (segment: Segment | null) =>
      segment && { ...restOf(segment), ...countsOf(segment) };
    return <FieldDiff before={whole(before)} after={whole(after)} />;
  }
  const members = membersBetween(before, after);
  const lists = memberLists.flatMap((list) => {
    const { add = [], remove = [] } = members[list] ?? {};
    const text = listText(add, remove);
    return text === undefined ? [] : [[list, text]];
  });
  return (
    <FieldDiff
      before={restOf(before)}
      after={{ ...restOf(after), ...(Object.fromEntries(lists) as object) }}
    />
  );
};
