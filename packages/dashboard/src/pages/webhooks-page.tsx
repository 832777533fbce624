// The webhooks of the environment, each with its health.
import type { Webhook, WebhookHealth } from "@halyard/sdk/management";
import { Anchor, Button } from "@mantine/core";
import { Link, useLocation } from "wouter";
import { Icon } from "../components/display/icon.tsx";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { PageTitle } from "../components/layout/page-title.tsx";
import { useCreating } from "../components/layout/use-creating.ts";
import { formatNumber } from "../format.ts";
import { useApi } from "../session.tsx";
import "../styles/pages/webhooks.css";
import { CreateWebhook } from "../webhooks/create-webhook.tsx";
import { HealthLine } from "../webhooks/health-line.tsx";
import { useWebhookEdits } from "../webhooks/webhook-edits.ts";
import { useHealth, useWebhooks } from "../webhooks/webhook-queries.ts";

const firstWebhook = () => `curl -X POST ${location.origin}/api/v1/webhooks \\
  -H "Authorization: Bearer $HALYARD_API_KEY" -H "Content-Type: application/json" \\
  -d '{"url":"https://example.com/hooks/flags","events":["*"]}'`;

interface WebhookRowProps {
  readonly webhook: Webhook;
  readonly health: WebhookHealth | undefined;
}

const WebhookRow = ({ webhook, health }: WebhookRowProps) => {
  const mayWrite = useApi().may("webhooks.write");
  const edits = useWebhookEdits();
  const [, navigate] = useLocation();
  const path = `/webhooks/${webhook.id}`;
  const test = async () => {
    const delivery = await edits.test(webhook);
    if (delivery) navigate(`${path}?delivery=${delivery.id}`);
  };
  return (
    <li className="webhook-row">
      <div className="webhook-row-words">
        <Anchor component={Link} href={path} className="webhook-url mono">
          {webhook.url}
        </Anchor>
        <div className="webhook-row-events dimmed">
          {webhook.events.includes("*") ? "all events" : webhook.events.join(", ")}
        </div>
        {health !== undefined && <HealthLine health={health} />}
      </div>
      {mayWrite && (
        <div className="webhook-row-actions">
          {webhook.active && (
            <Button
              size="xs"
              variant="default"
              onClick={() => void test()}
              aria-label={`Send test to ${webhook.url}`}
            >
              Send test
            </Button>
          )}
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name={webhook.active ? "pause" : "play"} size={14} />}
            onClick={() => void edits.setActive(webhook, !webhook.active)}
            aria-label={`${webhook.active ? "Pause" : "Resume"} ${webhook.url}`}
          >
            {webhook.active ? "Pause" : "Resume"}
          </Button>
        </div>
      )}
    </li>
  );
};

export const WebhooksPage = () => {
  const query = useWebhooks();
  const health = new Map(useHealth().data?.map((each) => [each.webhookId, each]));
  const { environment, may } = useApi();
  const mayWrite = may("webhooks.write");
  const [, navigate] = useLocation();
  const [creating, setCreating] = useCreating();
  const webhooks = query.data;
  const create = mayWrite && (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setCreating(true)}>
      Create webhook
    </Button>
  );
  return (
    <>
      <PageTitle
        title="Webhooks"
        description={
          webhooks === undefined ? "…" : `${formatNumber(webhooks.length)} in ${environment.name}`
        }
      >
        {create}
      </PageTitle>
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={3} height={104} />}
      {webhooks?.length === 0 && (
        <EmptyState
          title="No webhooks yet"
          {...(mayWrite && { command: firstWebhook(), action: create })}
        >
          Halyard sends a request to the URL of a webhook whenever a flag changes: signed, in order,
          and retried until your receiver accepts it.
        </EmptyState>
      )}
      {webhooks !== undefined && webhooks.length > 0 && (
        <ul className="webhook-list" aria-label="Webhooks">
          {webhooks.map((webhook) => (
            <WebhookRow key={webhook.id} webhook={webhook} health={health.get(webhook.id)} />
          ))}
        </ul>
      )}
      <CreateWebhook
        opened={creating && mayWrite}
        onClose={() => setCreating(false)}
        onDone={(id) => {
          setCreating(false);
          navigate(`/webhooks/${id}`);
        }}
      />
    </>
  );
};
