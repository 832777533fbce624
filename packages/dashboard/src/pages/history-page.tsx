// The history of the environment: who changed what, when and why; what was deleted; restored and exported from here.
import { Button } from "@mantine/core";
import { useEffect } from "react";
import { Redirect, useSearchParams } from "wouter";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { ShowOlder } from "../components/feedback/show-older.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { usePages } from "../components/feedback/use-pages.ts";
import { PageTitle } from "../components/layout/page-title.tsx";
import { EventEntry } from "../events/event-entry.tsx";
import { nameOf } from "../events/event-feed.ts";
import { formatNumber } from "../format.ts";
import { ActiveFilters, activeFilters } from "../history/active-filters.tsx";
import { ExportHistory } from "../history/export-history.tsx";
import {
  addressOfDeletedFlags,
  type HistoryFilter,
  historyFilterFrom,
  historyParameters,
  isFiltered,
  isSearch,
  queryOf,
} from "../history/history-filter.ts";
import { HistoryFilters } from "../history/history-filters.tsx";
import { HistoryProof } from "../history/history-proof.tsx";
import { RestoreButton } from "../history/restore-button.tsx";
import { useApi } from "../session.tsx";
import "../styles/pages/keys-events.css";

const pageSize = 50;

/** Refetched after every change of a flag or a segment. */
const useHistory = (filter: HistoryFilter) => {
  const { management, environment } = useApi();
  const query = usePages({
    queryKey: [environment.name, "history", historyParameters(filter).toString()],
    pageSize,
    keepPrevious: true,
    read: (page, signal) =>
      management.history({ ...queryOf(filter, Date.now()), ...page }, { signal }),
  });
  const pages = query.isPlaceholderData ? [] : (query.data?.pages ?? []);
  const found = pages.reduce((sum, { entries }) => sum + entries.length, 0);
  // One request searches only a part of a long history, so keep loading until there is something to show.
  const isSearching =
    isSearch(filter) &&
    query.hasNextPage &&
    !query.isError &&
    pages.length > 0 &&
    (found < pageSize || pages.at(-1)?.entries.length === 0);
  const { fetchNextPage, isFetching } = query;
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, fetchNextPage]);
  return { query, isSearching };
};

interface NothingProps {
  readonly filter: HistoryFilter;
  readonly onChange: (filter: HistoryFilter) => void;
}

const Nothing = ({ filter, onChange }: NothingProps) => {
  if (!isFiltered(filter)) {
    return (
      <EmptyState title="No changes yet">
        Every change of a flag, a segment, a webhook or a key is listed here, with who made it.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title={
        filter.onlyDeleted ? "No deletions match these filters" : "No changes match these filters"
      }
      action={
        <Button
          variant="default"
          onClick={() => onChange(historyFilterFrom(new URLSearchParams()))}
        >
          Clear filters
        </Button>
      }
    >
      <ActiveFilters
        filters={activeFilters(filter)}
        onRemove={(without) => onChange({ ...filter, ...without })}
      />
    </EmptyState>
  );
};

export const HistoryPage = () => {
  const { environment } = useApi();
  const [parameters, setParameters] = useSearchParams();
  const filter = historyFilterFrom(parameters);
  const { query, isSearching } = useHistory(filter);
  const change = (next: HistoryFilter) => setParameters(historyParameters(next), { replace: true });
  const isStale = query.isPlaceholderData;
  const entries = query.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <>
      <PageTitle
        title={filter.onlyDeleted ? "Deleted" : "History"}
        description={
          filter.onlyDeleted
            ? `From ${environment.name}, the last deleted first. What is restored keeps its history; a restored flag is off.`
            : `Every change in ${environment.name}, newest first`
        }
      >
        <ExportHistory filter={filter} />
      </PageTitle>
      <HistoryProof />
      <HistoryFilters
        filter={filter}
        actors={entries.map(({ actor }) => actor)}
        onChange={change}
      />
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {(query.isPending || (isStale && entries.length === 0)) && <RowsSkeleton rows={5} />}
      {query.isSuccess && !isStale && !isSearching && entries.length === 0 && (
        <Nothing filter={filter} onChange={change} />
      )}
      {entries.length > 0 && (
        <ol className="history" aria-label="Changes" aria-busy={isStale}>
          {entries.map((entry) => (
            <EventEntry
              key={nameOf(entry)}
              entry={entry}
              action={<RestoreButton entry={entry} />}
            />
          ))}
        </ol>
      )}
      {isSearching && (
        <p className="dimmed" role="status">
          Searching older changes, {formatNumber(entries.length)} found so far…
        </p>
      )}
      {!isStale && !isSearching && <ShowOlder query={query} />}
    </>
  );
};

/** Its address from before the history had a page. */
export const DeletedFlagsPage = () => <Redirect to={addressOfDeletedFlags} replace />;
