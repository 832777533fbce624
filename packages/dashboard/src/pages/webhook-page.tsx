// One webhook: its health, its last deliveries as a chart, and the delivery log.
import type { Webhook } from "@halyard/sdk/management";
import { Anchor, Button } from "@mantine/core";
import { Link, useParams } from "wouter";
import { ApiError } from "../api.ts";
import { CopyButton } from "../components/display/copy-button.tsx";
import { Icon } from "../components/display/icon.tsx";
import { Time } from "../components/display/time.tsx";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { ChartSkeleton, PageSkeleton } from "../components/feedback/skeletons.tsx";
import { PageTitle } from "../components/layout/page-title.tsx";
import { Section } from "../components/layout/section.tsx";
import { DeliveryChart } from "../deliveries/delivery-chart.tsx";
import { DeliveryDetails } from "../deliveries/delivery-details.tsx";
import { useDeliveryFilter } from "../deliveries/delivery-filter.ts";
import { DeliveryFilters } from "../deliveries/delivery-filters.tsx";
import { DeliveryList } from "../deliveries/delivery-list.tsx";
import { useApi } from "../session.tsx";
import "../styles/pages/deliveries.css";
import "../styles/pages/webhooks.css";
import { HealthDetails } from "../webhooks/health-details.tsx";
import { HealthLine } from "../webhooks/health-line.tsx";
import { WebhookActions } from "../webhooks/webhook-actions.tsx";
import { useHealthOf, useLatestDeliveries, useWebhook } from "../webhooks/webhook-queries.ts";

const BackToList = () => (
  <Anchor component={Link} href="/webhooks" className="back">
    <Icon name="back" size={16} /> All webhooks
  </Anchor>
);

const Missing = ({ id }: { readonly id: string }) => (
  <>
    <PageTitle title="Webhook" />
    <EmptyState
      title="Webhook not found"
      action={
        <Button component={Link} href="/webhooks" variant="default">
          Back to webhooks
        </Button>
      }
    >
      There is no webhook <span className="mono">{id}</span> in this environment. It may have been
      deleted.
    </EmptyState>
  </>
);

const Loaded = ({ webhook }: { readonly webhook: Webhook }) => {
  const mayWrite = useApi().may("webhooks.write");
  const [filter, setFilter] = useDeliveryFilter();
  const latest = useLatestDeliveries(webhook.id);
  const health = useHealthOf(webhook.id);
  const open = (opened: string | undefined) => setFilter({ ...filter, opened });
  return (
    <>
      <PageTitle
        title={webhook.url}
        heading={
          <span className="webhook-heading">
            <span className="mono">{webhook.url}</span>
            {mayWrite && <CopyButton text={webhook.url} what="URL" />}
          </span>
        }
        description={
          <>
            {webhook.events.includes("*") ? "all events" : webhook.events.join(", ")}
            {webhook.cloudEvents && ", with CloudEvents headers"}, created{" "}
            <Time at={webhook.createdAt} />
          </>
        }
      >
        {mayWrite && <WebhookActions webhook={webhook} onOpen={open} />}
      </PageTitle>
      {health.error !== null && <ErrorMessage error={health.error} onRetry={health.refetch} />}
      {health.data !== undefined && (
        <>
          <HealthLine health={health.data} />
          <HealthDetails webhook={webhook} health={health.data} filter={filter} />
        </>
      )}
      {latest.isPending && <ChartSkeleton />}
      {latest.data !== undefined && <DeliveryChart deliveries={latest.data} />}
      <Section title="Deliveries" aside={<DeliveryFilters filter={filter} onChange={setFilter} />}>
        <div className="delivery-split" data-opened={filter.opened !== undefined || undefined}>
          <DeliveryList webhook={webhook} filter={filter} />
          {filter.opened !== undefined && (
            <DeliveryDetails
              key={filter.opened}
              webhook={webhook}
              filter={filter}
              id={filter.opened}
              onOpen={open}
            />
          )}
        </div>
      </Section>
    </>
  );
};

export const WebhookPage = () => {
  const { id } = useParams<{ id: string }>();
  const query = useWebhook(id);
  const isMissing = query.error instanceof ApiError && query.error.failure.code === "NOT_FOUND";
  return (
    <>
      <BackToList />
      {isMissing && <Missing id={id} />}
      {query.error !== null && !isMissing && (
        <ErrorMessage error={query.error} onRetry={query.refetch} />
      )}
      {query.isPending && <PageSkeleton />}
      {query.data !== undefined && !isMissing && <Loaded webhook={query.data} />}
    </>
  );
};
