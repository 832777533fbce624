// One delivery opened: what it is about, every attempt with what came back, and the request.
import type { DeliveryAttempt, SentDelivery, Webhook } from "@halyard/sdk";
import { Anchor, Button, CloseButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { Link } from "wouter";
import { valueOrThrow } from "../api.ts";
import { CodeBlock } from "../components/display/code-block.tsx";
import { CopyButton } from "../components/display/copy-button.tsx";
import { Icon } from "../components/display/icon.tsx";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Time } from "../components/display/time.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { formatDate, formatNumber } from "../format.ts";
import { useApi } from "../session.tsx";
import { useWebhookEdits } from "../webhooks/webhook-edits.ts";
import {
  formatMilliseconds,
  isFailure,
  kindWords,
  outcomeOf,
  stateWords,
  toneOf,
} from "./delivery-labels.ts";
import { DeliveryRequest } from "./delivery-request.tsx";

const whilePending = 1_500;

const useDelivery = (webhookId: string, id: string) => {
  const { management, environment } = useApi();
  return useQuery({
    queryKey: [environment.name, "deliveries", webhookId, "one", id],
    queryFn: async () => valueOrThrow(await management.webhooks.delivery(webhookId, id)),
    refetchInterval: ({ state }) => (state.data?.state === "pending" ? whilePending : false),
  });
};

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div className="fact">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const Facts = ({ delivery }: { readonly delivery: SentDelivery }) => {
  const { event } = delivery;
  return (
    <dl className="facts">
      {event.flagKey !== null && (
        <Fact name="Flag">
          <Anchor component={Link} size="sm" href={`/flags/${encodeURIComponent(event.flagKey)}`}>
            {event.flagKey}
          </Anchor>
        </Fact>
      )}
      {event.sequence !== null && <Fact name="Sequence">{formatNumber(event.sequence)}</Fact>}
      <Fact name="Why">{kindWords[delivery.kind]}</Fact>
      <Fact name="Queued">
        <Time at={delivery.createdAt} />
      </Fact>
      {delivery.nextAttemptAt !== null && (
        <Fact name="Next attempt">
          <Time at={delivery.nextAttemptAt} />
        </Fact>
      )}
      <Fact name="Delivery">
        <span className="mono break-word">{delivery.id}</span>
        <CopyButton text={delivery.id} what="the id of the delivery" />
      </Fact>
      <Fact name="Event">
        <span className="mono break-word">{event.id}</span>
        <CopyButton text={event.id} what="the id of the event" />
      </Fact>
    </dl>
  );
};

interface AttemptProps {
  readonly attempt: DeliveryAttempt;
  readonly number: number;
}

const Attempt = ({ attempt, number }: AttemptProps) => (
  <li className="attempt">
    <div className="attempt-line">
      <StatusBadge tone={isFailure(attempt) ? "bad" : "good"}>{outcomeOf(attempt)}</StatusBadge>
      <span>{formatMilliseconds(attempt.milliseconds)}</span>
      <span className="dimmed">
        attempt {number}, {formatDate(attempt.at)} (<Time at={attempt.at} />)
      </span>
    </div>
    {attempt.response === null ? (
      <p className="delivery-note dimmed">The answer had no body.</p>
    ) : (
      <CodeBlock code={attempt.response} label="the answer, its first KiB" />
    )}
  </li>
);

interface DeliveryDetailsProps {
  readonly webhook: Webhook;
  readonly id: string;
  readonly onOpen: (id: string | undefined) => void;
}

export const DeliveryDetails = ({ webhook, id, onOpen }: DeliveryDetailsProps) => {
  const query = useDelivery(webhook.id, id);
  const edits = useWebhookEdits();
  const section = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const delivery = query.data;
  const isThere = delivery !== undefined;
  // Whoever opened it by keyboard goes on reading here.
  useEffect(() => {
    if (!isThere) return;
    heading.current?.focus({ preventScroll: true });
    // There it takes the place of the list.
    if (matchMedia("(max-width: 74.99em)").matches) section.current?.scrollIntoView();
  }, [isThere]);
  const sendAgain = async () => {
    const again = delivery && (await edits.sendAgain(webhook, delivery));
    if (again) onOpen(again.id);
  };
  return (
    <section className="delivery-details panel" aria-label="Delivery" ref={section}>
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={4} />}
      <CloseButton
        className="delivery-close"
        aria-label="Close the delivery"
        onClick={() => onOpen(undefined)}
      />
      {delivery !== undefined && (
        <>
          <h3 className="delivery-heading" ref={heading} tabIndex={-1}>
            {delivery.event.type}
          </h3>
          <div className="delivery-actions">
            <StatusBadge tone={toneOf[delivery.state]}>{stateWords(delivery)}</StatusBadge>
            {webhook.active && (
              <Button
                size="xs"
                variant="default"
                leftSection={<Icon name="rotate" size={14} />}
                onClick={() => void sendAgain()}
              >
                Send again
              </Button>
            )}
          </div>
          <Facts delivery={delivery} />
          <h4>Attempts</h4>
          {delivery.attempts.length === 0 && (
            <p className="dimmed">
              None yet{webhook.active ? "." : ": the webhook is paused. Resume it first."}
            </p>
          )}
          <ol className="attempts">
            {delivery.attempts
              .map((attempt, index) => (
                <Attempt key={attempt.at + String(index)} attempt={attempt} number={index + 1} />
              ))
              .reverse()}
          </ol>
          <DeliveryRequest delivery={delivery} />
        </>
      )}
    </section>
  );
};
