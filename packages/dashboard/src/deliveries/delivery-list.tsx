// The delivery log of a webhook, newest first: each row opens its delivery.
import type { Delivery, Webhook } from "@halyard/sdk/management";
import { Link, useLocation } from "wouter";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Time } from "../components/display/time.tsx";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { ShowOlder } from "../components/feedback/show-older.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { usePages } from "../components/feedback/use-pages.ts";
import { formatNumber } from "../format.ts";
import { useApi } from "../session.tsx";
import { formatCount } from "../webhooks/webhook-health.ts";
import { useHealthOf } from "../webhooks/webhook-queries.ts";
import { type DeliveryFilter, hrefOf } from "./delivery-filter.ts";
import { formatMilliseconds, outcomeOf, stateLabel, toneOf } from "./delivery-labels.ts";

const pageSize = 25;
const refetchEvery = 2_500;

const useLog = (webhookId: string, { state, flag }: DeliveryFilter) => {
  const { management, environment } = useApi();
  return usePages({
    queryKey: [environment.name, "deliveries", webhookId, "log", state, flag],
    pageSize,
    read: (page) =>
      management.webhooks.deliveries(webhookId, {
        ...page,
        ...(state !== undefined && { state }),
        ...(flag !== "" && { flag }),
      }),
    refetchInterval: refetchEvery,
  });
};

interface RowProps {
  readonly delivery: Delivery;
  readonly filter: DeliveryFilter;
}

const Row = ({ delivery, filter }: RowProps) => {
  const { id, event, kind, state, attempts, createdAt } = delivery;
  const [path] = useLocation();
  const last = attempts.at(-1);
  return (
    <li>
      <Link
        href={hrefOf(path, { ...filter, opened: id })}
        className="delivery-row"
        aria-current={filter.opened === id ? "true" : undefined}
      >
        <StatusBadge tone={toneOf[state]}>{stateLabel(delivery)}</StatusBadge>
        <span className="delivery-row-event">
          {event.type}
          {kind === "replay" && <span className="dimmed"> (replay)</span>}
        </span>
        <span className="delivery-row-time dimmed">
          <Time at={createdAt} />
        </span>
        <span className="delivery-row-flag mono">{event.flagKey ?? ""}</span>
        <span className="delivery-row-outcome dimmed">
          {last === undefined
            ? delivery.behind === null
              ? "not attempted yet"
              : "behind an earlier event"
            : `${outcomeOf(last)}, ${formatMilliseconds(last.milliseconds)}`}
        </span>
        <span className="delivery-row-sequence dimmed">
          {event.sequence === null ? "" : `#${formatNumber(event.sequence)}`}
        </span>
      </Link>
    </li>
  );
};

interface DeliveryListProps {
  readonly webhook: Webhook;
  readonly filter: DeliveryFilter;
}

export const DeliveryList = ({ webhook, filter }: DeliveryListProps) => {
  const [path] = useLocation();
  const query = useLog(webhook.id, filter);
  const deliveries = query.data?.pages.flatMap((page) => page.entries) ?? [];
  const retrying = useHealthOf(webhook.id).data?.retrying ?? 0;
  const isFiltered = filter.state !== undefined || filter.flag !== "";
  return (
    <div className="delivery-list">
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={5} />}
      {query.isSuccess && deliveries.length === 0 && (
        <EmptyState title={isFiltered ? "No deliveries match" : "No deliveries yet"}>
          {filter.state === "failed" && retrying > 0 ? (
            <>
              None was given up.{" "}
              <Link href={hrefOf(path, { ...filter, state: "retrying" })}>
                {formatCount(retrying)} retrying
              </Link>
              .
            </>
          ) : isFiltered ? (
            "Select another state or another flag."
          ) : (
            "Send a test or change a flag: requests and responses appear here."
          )}
        </EmptyState>
      )}
      {deliveries.length > 0 && (
        <ol className="delivery-rows" aria-label="Deliveries">
          {deliveries.map((delivery) => (
            <Row key={delivery.id} delivery={delivery} filter={filter} />
          ))}
        </ol>
      )}
      <ShowOlder query={query} />
    </div>
  );
};
