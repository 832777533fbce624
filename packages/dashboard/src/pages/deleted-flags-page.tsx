// The flags that were deleted, newest first, found in the history of the environment.
import { Anchor, Table } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { ApiError } from "../api.ts";
import { Icon } from "../components/display/icon.tsx";
import { Time } from "../components/display/time.tsx";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { ShowOlder } from "../components/feedback/show-older.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { PageTitle } from "../components/layout/page-title.tsx";
import { addressOfList } from "../flags/list/flag-filter.ts";
import { formatDate, formatNumber } from "../format.ts";
import { useLiveState } from "../live-provider.tsx";
import { useApi } from "../session.tsx";

/** Changes that are looked through at once. */
const pageSize = 500;

const useFlagChanges = () => {
  const { management, environment } = useApi();
  return useInfiniteQuery({
    queryKey: [environment.name, "history", "deleted-flags"],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam }) => {
      const result = await management.history({
        subject: "flag",
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
  const { mayChange } = useApi();
  const query = useFlagChanges();
  const { byKey } = useLiveState();
  const changes = query.data?.pages.flatMap((page) => page.entries) ?? [];
  const oldest = changes.at(-1);
  const latest = new Map(changes.toReversed().map((change) => [change.id, change]));
  const deleted = [...latest.values()]
    .filter(({ id, after }) => after === null && !byKey.has(id))
    .sort((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
  return (
    <>
      <Anchor component={Link} href={addressOfList()} className="back" underline="hover">
        <Icon name="back" size={16} /> All flags
      </Anchor>
      <PageTitle
        title="Deleted flags"
        description={
          oldest !== undefined &&
          `In the last ${formatNumber(changes.length)} changes of flags, since ${formatDate(oldest.createdAt)}`
        }
      />
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={3} />}
      {query.isSuccess && deleted.length === 0 && (
        <EmptyState title="No deleted flags">
          Flags that somebody deletes are listed here.
          {mayChange && " Open one to restore it from its history."}
        </EmptyState>
      )}
      {deleted.length > 0 && (
        <div className="scrolls">
          <Table aria-label="Deleted flags" verticalSpacing="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Flag</Table.Th>
                <Table.Th scope="col">Deleted by</Table.Th>
                <Table.Th scope="col">When</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {deleted.map(({ id, actor, createdAt }) => (
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
                  <Table.Td>{actor.name}</Table.Td>
                  <Table.Td>
                    <Time at={createdAt} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
      <ShowOlder query={query} />
    </>
  );
};
