// The live tail of the environment: what changed, who, when.
import type { HistoryEntry } from "@halyard/sdk";
import { Autocomplete, Button, SegmentedControl } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { ApiError } from "../api.ts";
import { Icon } from "../components/display/icon.tsx";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { ShowOlder } from "../components/feedback/show-older.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { AdminOnly } from "../components/layout/admin-only.tsx";
import { PageTitle } from "../components/layout/page-title.tsx";
import { EventEntry } from "../events/event-entry.tsx";
import { type EventFilter, nameOf, subjects, useEventFeed } from "../events/event-feed.ts";
import { formatNumber } from "../format.ts";
import { useLiveState } from "../live-provider.tsx";
import { useApi } from "../session.tsx";
import "../styles/keys-events.css";

const typingPause = 250;

interface ControlsProps {
  readonly filter: EventFilter;
  readonly onChange: (filter: EventFilter) => void;
}

const Controls = ({ filter, onChange }: ControlsProps) => {
  const { flags } = useLiveState();
  return (
    <div className="event-controls">
      <SegmentedControl
        aria-label="Changes of"
        data={[
          { value: "", label: "everything" },
          ...subjects.map((subject) => ({ value: subject, label: `${subject}s` })),
        ]}
        value={filter.flag === "" ? (filter.subject ?? "") : "flag"}
        onChange={(value) =>
          onChange({ subject: subjects.find((subject) => subject === value), flag: "" })
        }
      />
      <Autocomplete
        className="event-flag"
        aria-label="Flag"
        placeholder="Key of a flag"
        data={flags.map(({ flag }) => flag.key)}
        limit={8}
        value={filter.flag}
        onChange={(flag) => onChange({ ...filter, flag })}
        autoComplete="off"
        spellCheck={false}
        clearable
      />
    </div>
  );
};

/** Keeps what is on the page as it is, and counts what came since. */
const usePause = (entries: readonly HistoryEntry[]) => {
  const [kept, setKept] = useState<readonly HistoryEntry[] | undefined>();
  const first = kept?.[0];
  const since =
    first === undefined ? -1 : entries.findIndex((entry) => nameOf(entry) === nameOf(first));
  return {
    isPaused: kept !== undefined,
    shown: kept ?? entries,
    waiting: kept === undefined ? 0 : since === -1 ? entries.length : since,
    pause: () => setKept(entries),
    resume: () => setKept(undefined),
  };
};

const Nothing = ({ flag }: { readonly flag: string }) => (
  <EmptyState title={flag === "" ? "Nothing has happened yet" : "Nothing is known of this flag"}>
    {flag === ""
      ? "Create a flag, turn it, register a webhook: every change is shown here at once, with who made it."
      : `${flag} has never been here. Write the whole key, as it is in the list of flags.`}
  </EmptyState>
);

const Events = () => {
  const { environment } = useApi();
  const [parameters] = useSearchParams();
  const [filter, setFilter] = useState<EventFilter>(() => ({
    subject: undefined,
    flag: parameters.get("flag") ?? "",
  }));
  const [settled] = useDebouncedValue(filter.flag.trim(), typingPause);
  const query = useEventFeed({ ...filter, flag: filter.flag === "" ? "" : settled });
  const entries = query.data?.pages.flatMap((page) => page.entries) ?? [];
  const { isPaused, shown, waiting, pause, resume } = usePause(entries);
  const isUnknown = query.error instanceof ApiError && query.error.failure.code === "NOT_FOUND";
  return (
    <>
      <PageTitle title="Events" description={`Every change in ${environment.name}, as it happens`}>
        <Button
          variant={isPaused ? "filled" : "default"}
          leftSection={<Icon name={isPaused ? "play" : "pause"} size={16} />}
          onClick={isPaused ? resume : pause}
        >
          {isPaused ? "Go on" : "Pause"}
        </Button>
      </PageTitle>
      <Controls
        filter={filter}
        onChange={(next) => {
          resume();
          setFilter(next);
        }}
      />
      {isPaused && (
        <p className="event-waiting" role="status">
          Paused. {waiting === 0 ? "Nothing has changed since." : `${formatNumber(waiting)} newer.`}
        </p>
      )}
      {query.error !== null && !isUnknown && (
        <ErrorMessage error={query.error} onRetry={query.refetch} />
      )}
      {query.isPending && <RowsSkeleton rows={5} />}
      {(isUnknown || (query.isSuccess && shown.length === 0)) && <Nothing flag={settled} />}
      {!isUnknown && shown.length > 0 && (
        <ol className="history" aria-label="Changes">
          {shown.map((entry) => (
            <EventEntry key={nameOf(entry)} entry={entry} />
          ))}
        </ol>
      )}
      {!isPaused && <ShowOlder query={query} />}
    </>
  );
};

export const EventsPage = () => (
  <AdminOnly title="Events" what="The changes">
    <Events />
  </AdminOnly>
);
