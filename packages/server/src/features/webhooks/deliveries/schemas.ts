// Deliveries and the health of webhooks as the API shows them.

import { Type } from "typebox";
import type { HideSecrets } from "../../../platform/auth/hide-secrets.ts";
import { closedObject, nullable } from "../../../platform/http/openapi/schemas.ts";
import { stringEnum } from "../../../platform/http/openapi/string-enum.ts";
import { subjectOf } from "../../../writes/change.ts";
import type { DetailedHealth, ShownHealth } from "./deliveries.ts";
import { blockingLimit, countLimit, healthStatuses } from "./health-rules.ts";
import { type Delivery, deliveryKinds, deliveryStates } from "./rules.ts";

const segmentKey = Type.Optional(Type.String({ description: "Of the event of a segment." }));

const time = (description: string) =>
  Type.String({ description, examples: ["2026-11-14T12:00:00.000Z"] });

export const DeliverySchema = closedObject(
  {
    id: Type.String({
      description: "Of the form `dlv_<id>`; the header X-Service-Delivery carries it.",
    }),
    kind: stringEnum([...deliveryKinds], {
      description: "`event` as it happened, `replay` asked for again, `test` to try the webhook.",
    }),
    state: stringEnum([...deliveryStates]),
    event: closedObject({
      id: Type.String({
        description: "The header webhook-id carries it; the same on every retry and replay.",
      }),
      type: Type.String(),
      sequence: nullable<number>("integer", "Null for a test."),
      flagKey: nullable<string>("string", "Null for a test, and for the event of a segment."),
      segmentKey,
    }),
    createdAt: time("When it was queued."),
    settledAt: nullable<string>("string", "When it was delivered or given up."),
    nextAttemptAt: nullable<string>("string", "When the next attempt is due."),
    behind: nullable<string>(
      "string",
      "The pending delivery of the same flag that is sent first; null when this one is next.",
    ),
    attempts: Type.Array(
      closedObject({
        at: time("When it began."),
        status: nullable<number>("integer", "The status of the answer, when there was one."),
        error: nullable<string>("string", "Why it does not count as delivered."),
        milliseconds: Type.Integer(),
        response: nullable<string>(
          "string",
          "The first 1 KiB of the answer's body; null without a body, and for keys below `admin`.",
        ),
      }),
    ),
  },
  { $id: "Delivery" },
);

/** One delivery alone is shown with its request. */
export const SentDelivery = closedObject({
  ...DeliverySchema.properties,
  request: closedObject(
    {
      method: Type.String({ description: "Always `POST`." }),
      url: Type.String({ description: "The address of the webhook, as the webhook shows it." }),
      headers: Type.Record(Type.String(), Type.String(), {
        description:
          "Those that every attempt carries; timestamp and signatures are new each time.",
      }),
      body: Type.String({ description: "Exactly what is sent." }),
    },
    { description: "What is the same at every attempt." },
  ),
});

export const deliveryReference = { $ref: "Delivery#" } as const;

export const deliveryExample = {
  id: "dlv_5f0c1d2e3a4b5c6d7e8f901234567890",
  kind: "event",
  state: "delivered",
  event: {
    id: "evt_0a1b2c3d4e5f60718293a4b5c6d7e8f9",
    type: "flag.enabled",
    sequence: 812,
    flagKey: "new-checkout",
  },
  createdAt: "2026-11-14T12:00:00.000Z",
  settledAt: "2026-11-14T12:00:00.031Z",
  nextAttemptAt: null,
  behind: null,
  attempts: [
    { at: "2026-11-14T12:00:00.004Z", status: 204, error: null, milliseconds: 27, response: null },
  ],
};

export const sentExample = {
  ...deliveryExample,
  request: {
    method: "POST",
    url: "https://example.com/hooks/flags",
    headers: {
      "content-type": "application/json",
      "X-Service-Event": deliveryExample.event.type,
      "X-Service-Delivery": deliveryExample.id,
      "webhook-id": deliveryExample.event.id,
    },
    body: `{"id":"${deliveryExample.event.id}","type":"flag.enabled","createdAt":"2026-11-14T12:00:00.000Z","environment":"production","sequence":812,"data":{"flag":{"key":"new-checkout","type":"boolean","enabled":true,"description":null},"version":7,"previous":{"enabled":false}},"actor":{"keyId":"9f86d081884c7d65","name":"ci"}}`,
  },
};

const shownEvent = ({ orderingKey, ...event }: Delivery["event"]) => ({
  ...event,
  ...subjectOf(orderingKey),
});

export const shownDelivery = (delivery: Delivery, hide: HideSecrets) => ({
  ...delivery,
  event: shownEvent(delivery.event),
  createdAt: delivery.createdAt.toISOString(),
  settledAt: delivery.settledAt?.toISOString() ?? null,
  nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
  attempts: delivery.attempts.map(({ at, status, error, milliseconds, response }) => ({
    at: at.toISOString(),
    status,
    error,
    milliseconds,
    response: hide.response(response),
  })),
});

/** Not by `toLocaleString`: what it loads would take 6 MB of memory in every server. */
const upToLimit = `Counted up to ${countLimit / 1_000},000.`;
const totals = (description: string) =>
  closedObject(
    { succeeded: Type.Integer(), failed: Type.Integer() },
    { description: `${description} Attempts, to about ten minutes.` },
  );
const healthFields = {
  webhookId: Type.String(),
  status: stringEnum([...healthStatuses], {
    description:
      "`failing`: the last attempt failed, and none succeeded within the last minute. `unstable`: some succeed, but something is retried or has failed within the hour. `healthy`: neither. `pending`: nothing was attempted yet. `idle`: nothing was to be sent in 90 days. `paused`: somebody deactivated it. `deactivated`: Halyard deactivated it.",
  }),
  failingSince: nullable<string>("string", "The first failure since the last success."),
  deactivatedFor: nullable<string>(
    "string",
    "Why Halyard deactivated it; null for any other status, and when the history no longer tells.",
  ),
  pending: Type.Integer({ description: `Deliveries still to be made. ${upToLimit}` }),
  retrying: Type.Integer({ description: `Of the pending, those that have failed. ${upToLimit}` }),
  heldBack: Type.Integer({
    description: "Of the pending, those that wait for an earlier delivery of the same flag.",
  }),
  failed: Type.Integer({ description: `Deliveries that were given up, of 90 days. ${upToLimit}` }),
  oldestPendingAt: nullable<string>("string", "When the oldest pending delivery was queued."),
  nextAttemptAt: nullable<string>(
    "string",
    "When the next attempt is due, never in the past; null when none is planned. While `status` is `failing`, what is due is attempted one request at a time, up to 15 seconds apart; the rest follows when one succeeds.",
  ),
  lastHour: totals("Of the last hour."),
  lastDay: totals("Of the last 24 hours."),
  lastSuccessAt: nullable<string>("string", "Within 90 days."),
  lastFailureAt: nullable<string>("string", "Within 90 days."),
  lastError: nullable<string>("string", "Why the last failed attempt failed."),
};

export const HealthSchema = closedObject(healthFields);
export const DetailedHealthSchema = closedObject({
  ...healthFields,
  blocking: Type.Array(
    closedObject({
      deliveryId: Type.String(),
      flagKey: nullable<string>("string", "Null for a test, and for the event of a segment."),
      segmentKey,
      attempts: Type.Integer({ description: "Attempts made so far." }),
      error: nullable<string>("string", "Why the last one failed."),
      nextAttemptAt: healthFields.nextAttemptAt,
      heldBack: Type.Integer({
        description: `Later deliveries of the same flag that wait for it. ${upToLimit}`,
      }),
    }),
    { description: `The oldest deliveries that are retried, ${blockingLimit} at most.` },
  ),
});

export const healthExample = {
  webhookId: "wh_3f9a0c5be1d24f6a8b7c6d5e",
  status: "failing",
  failingSince: "2026-11-14T11:20:00.000Z",
  deactivatedFor: null,
  pending: 41,
  retrying: 3,
  heldBack: 36,
  failed: 0,
  oldestPendingAt: "2026-11-14T11:19:58.000Z",
  nextAttemptAt: "2026-11-14T12:01:30.000Z",
  lastHour: { succeeded: 12, failed: 9 },
  lastDay: { succeeded: 480, failed: 9 },
  lastSuccessAt: "2026-11-14T11:19:40.000Z",
  lastFailureAt: "2026-11-14T11:59:12.000Z",
  lastError: "answered 503",
};

export const detailedHealthExample = {
  ...healthExample,
  blocking: [
    {
      deliveryId: deliveryExample.id,
      flagKey: "new-checkout",
      attempts: 4,
      error: "answered 503",
      nextAttemptAt: "2026-11-14T12:01:30.000Z",
      heldBack: 36,
    },
  ],
};

const timeOf = (time: Date | null): string | null => time?.toISOString() ?? null;

export const shownHealth = (health: ShownHealth) => ({
  webhookId: health.webhookId,
  status: health.status,
  failingSince: timeOf(health.failingSince),
  deactivatedFor: health.deactivatedFor,
  pending: health.pending,
  retrying: health.retrying,
  heldBack: health.heldBack,
  failed: health.failed,
  oldestPendingAt: timeOf(health.oldestPendingAt),
  nextAttemptAt: timeOf(health.nextAttemptAt),
  lastHour: health.lastHour,
  lastDay: health.lastDay,
  lastSuccessAt: timeOf(health.lastSuccessAt),
  lastFailureAt: timeOf(health.lastFailureAt),
  lastError: health.lastError,
});

export const shownDetailedHealth = (health: DetailedHealth) => ({
  ...shownHealth(health),
  blocking: health.blocking.map((each) => ({
    deliveryId: each.deliveryId,
    ...subjectOf(each.orderingKey),
    attempts: each.attempts,
    error: each.error,
    nextAttemptAt: timeOf(each.nextAttemptAt),
    heldBack: each.heldBack,
  })),
});
