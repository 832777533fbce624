// The history of a segment: what each version changed in it, members by name where they are few.

import { isObject } from "@halyard/core/targeting/mistakes";
import type { ListChange, MemberList } from "@halyard/core/targeting/segment";
import { memberLists } from "@halyard/core/targeting/segment";
import type { HistoryEntry } from "@halyard/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { ApiError } from "../api.ts";
import { FieldDiff } from "../components/display/field-diff.tsx";
import { Time } from "../components/display/time.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { ShowOlder } from "../components/feedback/show-older.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { Section } from "../components/layout/section.tsx";
import { formatNumber } from "../format.ts";
import { useApi } from "../session.tsx";
import { conditionPhrase } from "../targeting/sentence.ts";

const pageSize = 20;
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

const labels: Readonly<Record<string, string>> = {
  "segment.created": "Created",
  "segment.deleted": "Deleted",
};

const Entry = ({ change }: { readonly change: HistoryEntry }) => {
  const { actor, createdAt, version, before, after, actions } = change;
  const label = actions.map((action) => labels[action]).find(Boolean);
  return (
    <li className="history-entry">
      <div className="history-who">
        <strong>{actor.name}</strong>
        <span className="dimmed">
          <Time at={createdAt} />
        </span>
        <span className="dimmed">version {version}</span>
      </div>
      <div>
        {label !== undefined && <div>{label}</div>}
        {after !== null && (
          <>
            <FieldDiff before={fieldsOf(before)} after={fieldsOf(after)} />
            <ListChanges changes={after as Changes} />
          </>
        )}
      </div>
    </li>
  );
};

export const SegmentHistory = ({ segmentKey }: { readonly segmentKey: string }) => {
  const { management, environment } = useApi();
  const query = useInfiniteQuery({
    // Refetched after every change of the segment.
    queryKey: [environment.name, "segment", segmentKey, "history"],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam }) => {
      const result = await management.history({
        subject: "segment",
        id: segmentKey,
        limit: pageSize,
        ...(pageParam !== undefined && { cursor: pageParam }),
      });
      if (!result.ok) throw new ApiError(result.error);
      return { entries: result.value, next: result.next };
    },
    getNextPageParam: ({ next }) => next,
  });
  const entries = query.data?.pages.flatMap((page) => page.entries) ?? [];
  if (query.isSuccess && entries.length === 0) return null;
  return (
    <Section title="History">
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={3} />}
      <ol className="history">
        {entries.map((change) => (
          <Entry key={change.version} change={change} />
        ))}
      </ol>
      <ShowOlder query={query} />
    </Section>
  );
};
