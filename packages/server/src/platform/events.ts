// Event types that webhooks can subscribe to.
import { eventTypes } from "@halyard/core/event-types";

export const allEvents = "*";

export const testEventType = "webhook.test";

export const subscribableEvents = [...eventTypes, allEvents] as const;
