// The live event feed of the environment: what changed, who changed it and when.
import type { HistoryEntry } from "@halyard/sdk/management";
import { Autocomplete, Button, SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { ApiError } from "../api.ts";
import { Icon } from "../components/display/icon.tsx";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { ShowOlder } from "../components/feedback/show-older.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { PageTitle } from "../components/layout/page-title.tsx";
import { EventEntry } from "../events/event-entry.tsx";
import {
  type EventFilter,
  eventFilterFrom,
  nameOf,
  parametersOf,
  subjects,
  useEventFeed,
} from "../events/event-feed.ts";
import { formatNumber } from "../format.ts";
import { useLiveState } from "../live-provider.tsx";
import { useApi } from "../session.tsx";
import "../styles/pages/keys-events.css";

interface ControlsProps {
  readonly filter: EventFilter;
  readonly onChange: (filter: EventFilter) => void;
}

const Controls = ({ filter, onChange }: ControlsProps) => {
  const { flags, byKey } = useLiveState();
  /** Half a key finds nothing: asked for is a key that exists, or what Enter confirms, such as a deleted one. */
  const [typed, setTyped] = useState(filter.flag);
  const ask = (flag: string) => {
    if (flag !== filter.flag) onChange({ ...filter, flag });
  };
  return (
    <div className="event-controls">
      <SegmentedControl
        aria-label="Filter by type"
        data={[
          { value: "", label: "all" },
          ...subjects.map((subject) => ({ value: subject, label: `${subject}s` })),
        ]}
        value={filter.flag === "" ? (filter.subject ?? "") : "flag"}
        onChange={(value) => {
          setTyped("");
          onChange({ subject: subjects.find((subject) => subject === value), flag: "" });
        }}
      />
      <form
        className="event-flag"
        onSubmit={(event) => {
          event.preventDefault();
          ask(typed.trim());
        }}
      >
        <Autocomplete
          aria-label="Flag"
          placeholder="Full key of a flag"
          data={flags.map(({ flag }) => flag.key)}
          limit={8}
          value={typed}
          onChange={(text) => {
            setTyped(text);
            ask(byKey.has(text.trim()) ? text.trim() : "");
          }}
          autoComplete="off"
          spellCheck={false}
          clearable
        />
        {typed.trim() !== "" && typed.trim() !== filter.flag && (
          <p className="dimmed" role="status">
            Press Enter to see only this flag.
          </p>
        )}
      </form>
    </div>
  );
};

/** Freezes the list and counts newer entries. */
const usePause = (entries: readonly HistoryEntry[]) => {
  const [frozen, setFrozen] = useState<readonly HistoryEntry[] | undefined>();
  const first = frozen?.[0];
  const since =
    first === undefined ? -1 : entries.findIndex((entry) => nameOf(entry) === nameOf(first));
  return {
    isPaused: frozen !== undefined,
    shown: frozen ?? entries,
    waiting: frozen === undefined ? 0 : since === -1 ? entries.length : since,
    pause: () => setFrozen(entries),
    resume: () => setFrozen(undefined),
  };
};

const Nothing = ({ flag }: { readonly flag: string }) => (
  <EmptyState title={flag === "" ? "No events yet" : "No events for this flag"}>
    {flag === ""
      ? "Create a flag, turn it on or create a webhook: every change appears here immediately, with who made it."
      : `${flag} has never existed in this environment. Check the key.`}
  </EmptyState>
);

export const EventsPage = () => {
  const { environment } = useApi();
  const [parameters, setParameters] = useSearchParams();
  const filter = eventFilterFrom(parameters);
  const query = useEventFeed(filter);
  const entries = query.data?.pages.flatMap((page) => page.entries) ?? [];
  const { isPaused, shown, waiting, pause, resume } = usePause(entries);
  const isUnknown = query.error instanceof ApiError && query.error.failure.code === "NOT_FOUND";
  return (
    <>
      <PageTitle title="Events" description={`Every change in ${environment.name}, live`}>
        <Button
          variant={isPaused ? "filled" : "default"}
          leftSection={<Icon name={isPaused ? "play" : "pause"} size={16} />}
          onClick={isPaused ? resume : pause}
        >
          {isPaused ? "Resume" : "Pause"}
        </Button>
      </PageTitle>
      <Controls
        filter={filter}
        onChange={(next) => {
          resume();
          setParameters(parametersOf(next), { replace: true });
        }}
      />
      {isPaused && (
        <p className="event-waiting" role="status">
          Paused. {waiting === 0 && "No new events."}
          {waiting > 0 && `${formatNumber(waiting)} new ${waiting === 1 ? "event" : "events"}.`}
        </p>
      )}
      {query.error !== null && !isUnknown && (
        <ErrorMessage error={query.error} onRetry={query.refetch} />
      )}
      {query.isPending && <RowsSkeleton rows={5} />}
      {(isUnknown || (query.isSuccess && shown.length === 0)) && <Nothing flag={filter.flag} />}
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
