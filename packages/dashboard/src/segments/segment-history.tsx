// The history of a segment, with buttons that restore a version.
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { ShowOlder } from "../components/feedback/show-older.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { usePages } from "../components/feedback/use-pages.ts";
import { Section } from "../components/layout/section.tsx";
import { EventEntry } from "../events/event-entry.tsx";
import { RestoreButton } from "../history/restore-button.tsx";
import { useApi } from "../session.tsx";
import "../styles/pages/keys-events.css";

const pageSize = 20;

export const SegmentHistory = ({ segmentKey }: { readonly segmentKey: string }) => {
  const { management, environment } = useApi();
  const query = usePages({
    // Refetched after every change of the segment.
    queryKey: [environment.name, "segment", segmentKey, "history"],
    pageSize,
    read: (page) => management.history({ subject: "segment", id: segmentKey, ...page }),
  });
  const entries = query.data?.pages.flatMap((page) => page.entries) ?? [];
  if (query.isSuccess && entries.length === 0) return null;
  return (
    <Section title="History">
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={3} />}
      <ol className="history">
        {entries.map((entry) => (
          <EventEntry key={entry.version} entry={entry} action={<RestoreButton entry={entry} />} />
        ))}
      </ol>
      <ShowOlder query={query} />
    </Section>
  );
};
