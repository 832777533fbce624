// What changed in a segment, field by field, members by name where they are few.
import { isObject } from "@halyard/core/targeting/mistakes";
import { type ListChange, type MemberList, memberLists } from "@halyard/core/targeting/segment";
import type { HistoryEntry } from "@halyard/sdk/management";
import { FieldDiff } from "../components/display/field-diff.tsx";
import { formatNumber } from "../format.ts";
import { conditionPhrase } from "../targeting/sentence.ts";

const shownMembers = 10;

type Changes = { readonly [List in MemberList]?: ListChange };

const named = (members: readonly string[]): string => {
  const shown = members.slice(0, shownMembers).join(", ");
  const more = members.length - shownMembers;
  return more > 0 ? `${shown} and ${formatNumber(more)} more` : shown;
};

const ListChanges = ({ changes }: { readonly changes: Changes }) => (
  <dl className="diff">
    {memberLists.flatMap((list) => {
      const { added = [], removed = [] } = changes[list] ?? {};
      if (added.length + removed.length === 0) return [];
      return [
        <div key={list} className="diff-line">
          <dt>{list}</dt>
          <dd>
            {added.length > 0 && (
              <ins className="diff-after">
                {formatNumber(added.length)} added: {named(added)}
              </ins>
            )}
            {removed.length > 0 && (
              <>
                {added.length > 0 && <br />}
                {formatNumber(removed.length)} removed:{" "}
                <del className="diff-before">{named(removed)}</del>
              </>
            )}
          </dd>
        </div>,
      ];
    })}
  </dl>
);

const fieldsOf = (segment: HistoryEntry["before"]) =>
  segment && {
    description: segment.description,
    ...(isObject(segment.when) && { condition: conditionPhrase(segment.when) }),
  };

/** Of an entry that is no deletion. */
export const SegmentDiff = ({ before, after }: Pick<HistoryEntry, "before" | "after">) =>
  after !== null && (
    <>
      <FieldDiff before={fieldsOf(before)} after={fieldsOf(after)} />
      <ListChanges changes={after as Changes} />
    </>
  );
