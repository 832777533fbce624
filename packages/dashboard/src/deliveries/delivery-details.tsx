// One delivery: its facts, every attempt with its response, and the request.
import type { Actor, DeliveryAttempt, SentDelivery, Webhook } from "@halyard/sdk/management";
import { Anchor, Button, CloseButton } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { Link } from "wouter";
import { valueOrThrow } from "../api.ts";
import { ActorName } from "../components/display/actor-name.tsx";
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
import type { DeliveryFilter } from "./delivery-filter.ts";
import {
  formatMilliseconds,
  isFailure,
  kindLabels,
  outcomeOf,
  stateLabel,
  toneOf,
} from "./delivery-labels.ts";
import { DeliveryRequest } from "./delivery-request.tsx";
import { NextAttempt } from "./next-attempt.tsx";

const refetchWhilePending = 1_500;

const useDelivery = (webhookId: string, id: string) => {
  const { management, environment } = useApi();
  return useQuery({
    queryKey: [environment.name, "deliveries", webhookId, "one", id],
    queryFn: async () => valueOrThrow(await management.webhooks.delivery(webhookId, id)),
    refetchInterval: ({ state }) => (state.data?.state === "pending" ? refetchWhilePending : false),
  });
};

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <div className="fact">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

/** From the body; undefined for a test. */
const actorOf = ({ kind, request }: SentDelivery): Actor | undefined =>
  kind === "test" ? undefined : (JSON.parse(request.body) as { readonly actor?: Actor }).actor;

interface FactsProps {
  readonly webhook: Webhook;
  readonly delivery: SentDelivery;
  readonly filter: DeliveryFilter;
}

const Facts = ({ webhook, delivery, filter }: FactsProps) => {
  const { event } = delivery;
  const actor = actorOf(delivery);
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
      {actor && (
        <Fact name="Changed by">
          <ActorName actor={actor} />
        </Fact>
      )}
      <Fact name="Trigger">{kindLabels[delivery.kind]}</Fact>
      <Fact name="Queued">
        <Time at={delivery.createdAt} />
      </Fact>
      {delivery.state === "pending" && (
        <Fact name="Next attempt">
          <NextAttempt webhook={webhook} delivery={delivery} filter={filter} />
        </Fact>
      )}
      <Fact name="Delivery ID">
        <span className="mono break-word">{delivery.id}</span>
        <CopyButton text={delivery.id} what="delivery ID" />
      </Fact>
      <Fact name="Event ID">
        <span className="mono break-word">{event.id}</span>
        <CopyButton text={event.id} what="event ID" />
      </Fact>
    </dl>
  );
};

interface AttemptProps {
  readonly attempt: DeliveryAttempt;
  readonly number: number;
  readonly mayWrite: boolean;
}

const noBody = "The response had no body.";
/** The API gives them none: it may carry a secret. */
const hiddenBody = "Only admins see the body of the response.";

const Attempt = ({ attempt, number, mayWrite }: AttemptProps) => (
  <li className="attempt">
    <div className="attempt-line">
      <StatusBadge tone={isFailure(attempt) ? "bad" : "good"}>{outcomeOf(attempt)}</StatusBadge>
      <span>{formatMilliseconds(attempt.milliseconds)}</span>
      <span className="dimmed">
        attempt {number}, {formatDate(attempt.at)} (<Time at={attempt.at} />)
      </span>
    </div>
    {attempt.response === null && attempt.status !== null && (
      <p className="delivery-note dimmed">{mayWrite ? noBody : hiddenBody}</p>
    )}
    {attempt.response !== null && (
      <CodeBlock code={attempt.response} label="Response (first 1 KiB)" what="response" />
    )}
  </li>
);

interface DeliveryDetailsProps {
  readonly webhook: Webhook;
  readonly filter: DeliveryFilter;
  readonly id: string;
  readonly onOpen: (id: string | undefined) => void;
}

export const DeliveryDetails = ({ webhook, filter, id, onOpen }: DeliveryDetailsProps) => {
  const mayWrite = useApi().may("webhooks.write");
  const query = useDelivery(webhook.id, id);
  const edits = useWebhookEdits();
  const section = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const delivery = query.data;
  const isLoaded = delivery !== undefined;
  // Keyboard and screen reader users continue here.
  useEffect(() => {
    if (!isLoaded) return;
    heading.current?.focus({ preventScroll: true });
    // On narrow screens it replaces the list.
    if (matchMedia("(max-width: 74.99em)").matches) section.current?.scrollIntoView();
  }, [isLoaded]);
  const replay = async () => {
    const replayed = delivery && (await edits.replay(webhook, delivery));
    if (replayed) onOpen(replayed.id);
  };
  return (
    <section className="delivery-details panel" aria-label="Delivery" ref={section}>
      {query.error !== null && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.isPending && <RowsSkeleton rows={4} />}
      <CloseButton
        className="delivery-close"
        aria-label="Close delivery"
        onClick={() => onOpen(undefined)}
      />
      {delivery !== undefined && (
        <>
          <h3 className="delivery-heading" ref={heading} tabIndex={-1}>
            {delivery.event.type}
          </h3>
          <div className="delivery-actions">
            <StatusBadge tone={toneOf[delivery.state]}>{stateLabel(delivery)}</StatusBadge>
            {webhook.active && mayWrite && (
              <Button
                size="xs"
                variant="default"
                leftSection={<Icon name="rotate" size={14} />}
                onClick={() => void replay()}
              >
                Replay
              </Button>
            )}
          </div>
          <Facts webhook={webhook} delivery={delivery} filter={filter} />
          <h4>Attempts</h4>
          {delivery.attempts.length === 0 && (
            <p className="dimmed">None yet. {!webhook.active && "The webhook is paused."}</p>
          )}
          <ol className="attempts">
            {delivery.attempts
              .map((attempt, index) => (
                <Attempt
                  key={attempt.at + String(index)}
                  attempt={attempt}
                  number={index + 1}
                  mayWrite={mayWrite}
                />
              ))
              .reverse()}
          </ol>
          <DeliveryRequest delivery={delivery} />
        </>
      )}
    </section>
  );
};
