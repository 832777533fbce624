// The history of a segment: what each version changed in it, members by name where they are few.

import type { HistoryEntry } from "@halyard/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { ApiError } from "../api.ts";
import { Reason } from "../components/display/reason.tsx";
import { Time } from "../components/display/time.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { ShowOlder } from "../components/feedback/show-older.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { Section } from "../components/layout/section.tsx";
import { useApi } from "../session.tsx";
import { SegmentDiff } from "./segment-diff.tsx";

const pageSize = 20;
const labels: Readonly<Record<string, string>> = {
  "segment.created": "Created",
  "segment.deleted": "Deleted",
};

const Entry = ({ change }: { readonly change: HistoryEntry }) => {
  const { actor, createdAt, version, before, after, actions, reason } = change;
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
        <Reason reason={reason} />
        <SegmentDiff before={before} after={after} />
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
