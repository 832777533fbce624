// The history of the environment: who changed what, when and why; what was deleted; restored and exported from here.
import { Redirect, useSearchParams } from "wouter";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { ShowOlder } from "../components/feedback/show-older.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { usePages } from "../components/feedback/use-pages.ts";
import { PageTitle } from "../components/layout/page-title.tsx";
import { EventEntry } from "../events/event-entry.tsx";
import { nameOf } from "../events/event-feed.ts";
import { ExportHistory } from "../history/export-history.tsx";
import {
  addressOfDeletedFlags,
  type HistoryFilter,
  historyFilterFrom,
  historyParameters,
  isFiltered,
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
  return usePages({
    queryKey: [environment.name, "history", historyParameters(filter).toString()],
    pageSize,
    read: (page) => management.history({ ...queryOf(filter, Date.now()), ...page }),
  });
};

const Nothing = ({ filter }: { readonly filter: HistoryFilter }) => {
  if (!isFiltered(filter)) {
    return (
      <EmptyState title="No changes yet">
        Every change of a flag, a segment, a webhook or a key is listed here, with who made it.
      </EmptyState>
    );
  }
  return (
    <EmptyState title={filter.onlyDeleted ? "Nothing was deleted" : "No changes"}>
      Nothing in the history matches the filters.
      {filter.actor !== "" && " A name counts as it is written, whole and with its capitals."}
    </EmptyState>
  );
};

export const HistoryPage = () => {
  const { environment } = useApi();
  const [parameters, setParameters] = useSearchParams();
  const filter = historyFilterFrom(parameters);
  const query = useHistory(filter);
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
        onChange={(next) => setParameters(historyParameters(next), { replace: true })}
      />
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={5} />}
      {query.isSuccess && entries.length === 0 && <Nothing filter={filter} />}
      {entries.length > 0 && (
        <ol className="history" aria-label="Changes">
          {entries.map((entry) => (
            <EventEntry
              key={nameOf(entry)}
              entry={entry}
              action={<RestoreButton entry={entry} />}
            />
          ))}
        </ol>
      )}
      <ShowOlder query={query} />
    </>
  );
};

/** Its address from before the history had a page. */
export const DeletedFlagsPage = () => <Redirect to={addressOfDeletedFlags} replace />;
