// The latest deliveries for this flag, across all webhooks.
import type { Delivery, Webhook } from "@halyard/sdk/management";
import { Anchor, Table } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { valueOrThrow } from "../api.ts";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Time } from "../components/display/time.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { Section } from "../components/layout/section.tsx";
import { toneOf } from "../deliveries/delivery-labels.ts";
import { useApi } from "../session.tsx";

const perWebhook = 10;
const maxShown = 20;
const refetchEvery = 5_000;

interface Delivered {
  readonly webhook: Webhook;
  readonly delivery: Delivery;
}

const useDeliveries = (flag: string) => {
  const { management, environment } = useApi();
  return useQuery({
    queryKey: [environment.name, "deliveries", "of-flag", flag],
    refetchInterval: refetchEvery,
    queryFn: async () => {
      const webhooks = valueOrThrow(await management.webhooks.list());
      const all = await Promise.all(
        webhooks.map(async (webhook): Promise<Delivered[]> => {
          const query = { flag, limit: perWebhook };
          const list = valueOrThrow(await management.webhooks.deliveries(webhook.id, query));
          return list.map((delivery) => ({ webhook, delivery }));
        }),
      );
      const newest = all
        .flat()
        .sort((one, other) => (one.delivery.createdAt < other.delivery.createdAt ? 1 : -1));
      return { webhooks: webhooks.length, newest: newest.slice(0, maxShown) };
    },
  });
};

const outcomeOf = ({ attempts }: Delivery): string => {
  const last = attempts.at(-1);
  if (last === undefined) return "not attempted yet";
  return last.error ?? `${last.status} in ${last.milliseconds} ms`;
};

export const FlagDeliveries = ({ flagKey }: { readonly flagKey: string }) => {
  const mayWrite = useApi().may("webhooks.write");
  const query = useDeliveries(flagKey);
  const { data } = query;
  return (
    <Section title="Deliveries">
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={2} />}
      {data?.newest.length === 0 && (
        <p className="dimmed">
          {data.webhooks === 0 ? (
            <>
              There are no webhooks.{" "}
              {mayWrite && (
                <>
                  <Anchor inherit component={Link} href="/webhooks">
                    Create one
                  </Anchor>{" "}
                  to be notified of every change.
                </>
              )}
            </>
          ) : (
            "No deliveries for this flag yet."
          )}
        </p>
      )}
      {data !== undefined && data.newest.length > 0 && (
        <div className="scrolls">
          <Table aria-label="Deliveries of this flag">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">State</Table.Th>
                <Table.Th scope="col">Event</Table.Th>
                <Table.Th scope="col">Webhook</Table.Th>
                <Table.Th scope="col">Last response</Table.Th>
                <Table.Th scope="col">When</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.newest.map(({ webhook, delivery }) => (
                <Table.Tr key={delivery.id}>
                  <Table.Td>
                    <StatusBadge tone={toneOf[delivery.state]}>{delivery.state}</StatusBadge>
                  </Table.Td>
                  <Table.Td>{delivery.event.type}</Table.Td>
                  <Table.Td>
                    <Anchor
                      inherit
                      component={Link}
                      href={`/webhooks/${webhook.id}`}
                      className="break-word"
                    >
                      {webhook.url}
                    </Anchor>
                  </Table.Td>
                  <Table.Td>{outcomeOf(delivery)}</Table.Td>
                  <Table.Td>
                    <Time at={delivery.createdAt} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
      )}
    </Section>
  );
};
