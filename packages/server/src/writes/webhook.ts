// Subscriptions: which events a webhook may subscribe to, and which webhooks a change is sent to.

import { type EventType, eventTypes } from "@halyard/core/event-types";
import { invalid, ok, type Result } from "../platform/errors.ts";
import { allEvents, subscribableEvents, testEventType } from "../platform/events.ts";
import type { ChangeEvent } from "./change.ts";

export const maxWebhooks = 100;
/** The types that a test may have. */
export const testableTypes = [testEventType, ...eventTypes] as const;
export type TestableType = (typeof testableTypes)[number];

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly active: boolean;
  /** Its requests have the headers of CloudEvents; absent when they do not. */
  readonly cloudEvents?: true;
  readonly createdAt: Date;
}

/** An event that exists only to test a webhook. */
export interface TestEvent {
  readonly id: string;
  readonly type: string;
  readonly body: Uint8Array;
}

/** One event for one webhook. */
export interface NewDelivery {
  readonly id: string;
  readonly webhookId: string;
  readonly eventId: string;
  /** Null for a test. */
  readonly sequence: number | null;
  /** What its deliveries are ordered by, see `orderedBy`; null for a test. */
  readonly orderingKey: string | null;
}

/** The names without duplicates, in the order given. */
export const checkEvents = (events: readonly string[]): Result<readonly string[]> => {
  if (events.length === 0) {
    return invalid("events", `must name at least one of ${subscribableEvents.join(", ")}`);
  }
  const unknown = events.find((name) => !(subscribableEvents as readonly string[]).includes(name));
  if (unknown !== undefined) {
    return invalid(
      "events",
      `must hold allowed names only; "${unknown}" is not one of ${subscribableEvents.join(", ")}`,
    );
  }
  return ok([...new Set(events)]);
};

/** The types that a webhook is subscribed to. */
export const subscribedTypes = ({ events }: Webhook): readonly EventType[] =>
  events.includes(allEvents) ? eventTypes : eventTypes.filter((type) => events.includes(type));

const wants = (webhook: Webhook, type: EventType): boolean =>
  webhook.active && subscribedTypes(webhook).includes(type);

/** `orderedBy` names the queue in which they are delivered one after the other. */
export const deliveriesOf = (
  events: readonly ChangeEvent[],
  orderedBy: string,
  webhooks: readonly Webhook[],
  newDeliveryId: () => string,
): NewDelivery[] =>
  events.flatMap((event) =>
    webhooks
      .filter((webhook) => wants(webhook, event.type))
      .map((webhook) => ({
        id: newDeliveryId(),
        webhookId: webhook.id,
        eventId: event.id,
        sequence: event.sequence,
        orderingKey: orderedBy,
      })),
  );
