// The flags that were deleted, newest first, each with a button that restores it.
import { Anchor, Button, Table } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link } from "wouter";
import { ApiError } from "../api.ts";
import { Icon } from "../components/display/icon.tsx";
import { Time } from "../components/display/time.tsx";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { ShowOlder } from "../components/feedback/show-older.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { PageTitle } from "../components/layout/page-title.tsx";
import { flagOf } from "../events/event-entry.tsx";
import { useFlagEdits } from "../flags/edit/flag-edits.tsx";
import { addressOfList } from "../flags/list/flag-filter.ts";
import { useLiveState } from "../live-provider.tsx";
import { useApi } from "../session.tsx";

const pageSize = 100;

const useDeletions = () => {
  const { management, environment } = useApi();
  return useInfiniteQuery({
    queryKey: [environment.name, "history", "deleted-flags"],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam }) => {
      const result = await management.history({
        subject: "flag",
        deleted: true,
        limit: pageSize,
        ...(pageParam !== undefined && { cursor: pageParam }),
      });
      if (!result.ok) throw new ApiError(result.error);
      return { entries: result.value, next: result.next };
    },
    getNextPageParam: ({ next }) => next,
  });
};

export const DeletedFlagsPage = () => {
  const { mayChange, environment } = useApi();
  const edits = useFlagEdits();
  const query = useDeletions();
  const { byKey } = useLiveState();
  const deletions = query.data?.pages.flatMap((page) => page.entries) ?? [];
  /** A flag may have been deleted several times, and may exist again. */
  const deleted = deletions.filter(
    ({ id }, index) => !byKey.has(id) && deletions.findIndex((each) => each.id === id) === index,
  );
  const { hasNextPage, isFetching, isError, fetchNextPage } = query;
  const isSearching = deleted.length === 0 && hasNextPage && !isError;
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, fetchNextPage]);
  return (
    <>
      <Anchor component={Link} href={addressOfList()} className="back" underline="hover">
        <Icon name="back" size={16} /> All flags
      </Anchor>
      <PageTitle
        title="Deleted flags"
        description={`From ${environment.name}, the last deleted first. A restored flag is off.`}
      />
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {(query.isPending || isSearching) && <RowsSkeleton rows={3} />}
      {query.isSuccess && deleted.length === 0 && !hasNextPage && (
        <EmptyState title="No deleted flags">
          Flags that somebody deletes are listed here.
          {mayChange && " You can restore them."}
        </EmptyState>
      )}
      {deleted.length > 0 && (
        <div className="scrolls">
          <Table aria-label="Deleted flags" verticalSpacing="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Flag</Table.Th>
                <Table.Th scope="col">Deleted</Table.Th>
                {mayChange && <Table.Td />}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {deleted.map(({ id, actor, createdAt, before }) => {
                const flag = flagOf(before);
                return (
                  <Table.Tr key={id}>
                    <Table.Th scope="row">
                      <Anchor
                        component={Link}
                        href={`/flags/${encodeURIComponent(id)}`}
                        className="mono"
                      >
                        {id}
                      </Anchor>
                    </Table.Th>
                    <Table.Td>
                      <Time at={createdAt} /> by {actor.name}
                    </Table.Td>
                    {mayChange && (
                      <Table.Td>
                        {flag !== null && (
                          <Button
                            variant="default"
                            size="compact-sm"
                            onClick={() => void edits.revive(flag)}
                            aria-label={`Restore ${id}`}
                          >
                            Restore
                          </Button>
                        )}
                      </Table.Td>
                    )}
                  </Table.Tr>
                );
              })}
            </Table.Tbody>
          </Table>
        </div>
      )}
      {!isSearching && <ShowOlder query={query} />}
    </>
  );
};
