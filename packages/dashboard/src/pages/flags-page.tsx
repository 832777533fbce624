// The flags of the environment: search, filter, turn on or off, create.
import { Button } from "@mantine/core";
import { useDeferredValue, useEffect, useMemo, useRef } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import { Icon } from "../components/display/icon.tsx";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { usePageKeys } from "../components/layout/page-keys.ts";
import { PageTitle } from "../components/layout/page-title.tsx";
import { useCreating } from "../components/layout/use-creating.ts";
import { useSelection } from "../components/selection/use-selection.ts";
import { CreateFlag } from "../flags/edit/create-flag.tsx";
import { ErrorsLink } from "../flags/errors/errors-link.tsx";
import { BulkBar, useMaySelect } from "../flags/list/bulk-bar.tsx";
import {
  type FlagFilter,
  filterFrom,
  parametersFrom,
  rememberFilter,
  shownFlags,
  staleMeans,
} from "../flags/list/flag-filter.ts";
import { FlagFilters } from "../flags/list/flag-filters.tsx";
import { labelsOf } from "../flags/list/flag-labels.ts";
import { FlagList, type FlagListHandle } from "../flags/list/flag-list.tsx";
import { useUsage } from "../flags/list/use-usage.ts";
import { formatNumber } from "../format.ts";
import { addressOfDeletedFlags } from "../history/history-filter.ts";
import { useLiveState } from "../live-provider.tsx";
import { useApi } from "../session.tsx";

const firstFlag = (key: string) => `curl -X POST ${location.origin}/api/v1/flags \\
  -H "Authorization: Bearer $HALYARD_API_KEY" -H "Content-Type: application/json" \\
  -d '{"key":"${key}","type":"boolean"}'`;

export const FlagsPage = () => {
  const { mayChange, environment } = useApi();
  const { flags, status } = useLiveState();
  const isLoading = status !== "live" && flags.length === 0;
  const usage = useUsage(!isLoading);
  const [parameters, setParameters] = useSearchParams();
  const [, navigate] = useLocation();
  const filter = useMemo(() => filterFrom(parameters), [parameters]);
  const setFilter = (next: FlagFilter) => setParameters(parametersFrom(next), { replace: true });
  useEffect(() => rememberFilter(filter), [filter]);
  const [creating, setCreating] = useCreating();
  const search = useRef<HTMLInputElement>(null);
  const list = useRef<FlagListHandle>(null);
  const deferred = useDeferredValue(filter);
  const shown = useMemo(
    () => shownFlags(flags, deferred, usage.data),
    [flags, deferred, usage.data],
  );
  const keys = useMemo(() => shown.map(({ flag }) => flag.key), [shown]);
  const selection = useSelection(keys);
  const maySelect = useMaySelect();
  const labels = useMemo(() => labelsOf(flags), [flags]);
  usePageKeys({
    "/": () => search.current?.focus(),
    c: () => mayChange && setCreating(true),
  });

  /** Of what is typed, even when the list still shows the letter before. */
  const openFirst = () => {
    const [entry] = shownFlags(flags, filter, usage.data);
    if (entry) navigate(`/flags/${encodeURIComponent(entry.flag.key)}`);
  };

  const isEmpty = flags.length === 0;
  const create = mayChange && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
      Create flag
    </Button>
  );
  return (
    <>
      <PageTitle
        title="Flags"
        description={isLoading ? "…" : `${formatNumber(flags.length)} in ${environment.name}`}
      >
        <ErrorsLink />
        <Button component={Link} href={addressOfDeletedFlags} variant="subtle" color="gray">
          Deleted flags
        </Button>
        {create}
      </PageTitle>
      {usage.error !== null && (
        <ErrorMessage
          error={usage.error}
          title="Usage could not be loaded"
          onRetry={usage.refetch}
        />
      )}
      {isLoading && status === "connecting" && <RowsSkeleton rows={8} height={64} />}
      {isLoading && status !== "connecting" && (
        <EmptyState title="The flags could not be loaded">
          The server does not respond. The page keeps trying.
        </EmptyState>
      )}
      {!isLoading && isEmpty && (
        <EmptyState title="No flags yet" action={create} command={firstFlag("new-checkout")}>
          A flag is a switch that your code evaluates by its key. Create one, use it in your code,
          then turn it on here. Every program gets the change immediately.
        </EmptyState>
      )}
      {!isLoading && !isEmpty && (
        <>
          <FlagFilters
            filter={filter}
            labels={labels}
            searchRef={search}
            onChange={setFilter}
            onOpenFirst={openFirst}
            onEnterList={() => list.current?.focusFirst()}
          />
          <p className="flag-count dimmed" role="status">
            {shown.length < flags.length &&
              `${formatNumber(shown.length)} of ${formatNumber(flags.length)} flags`}
          </p>
          {maySelect && (
            <BulkBar selection={selection} flags={flags} shown={keys} tags={labels.tags} />
          )}
          {deferred.onlyStale && <p className="flag-count dimmed">{staleMeans}</p>}
          {shown.length === 0 ? (
            <EmptyState
              title="No flags match"
              action={
                <Button
                  variant="default"
                  onClick={() => setFilter(filterFrom(new URLSearchParams()))}
                >
                  Clear filters
                </Button>
              }
            >
              No flag matches the search and all filters.
            </EmptyState>
          ) : (
            <FlagList
              ref={list}
              flags={shown}
              usage={usage.data}
              selection={maySelect ? selection : undefined}
            />
          )}
        </>
      )}
      <CreateFlag
        opened={creating && mayChange}
        onClose={() => setCreating(false)}
        onCreated={(key) => {
          setCreating(false);
          navigate(`/flags/${encodeURIComponent(key)}`, { state: { created: true } });
        }}
      />
    </>
  );
};
