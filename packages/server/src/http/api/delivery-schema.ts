// A delivery as the API shows it.

import { type Delivery, deliveryKinds, deliveryStates } from "../../domain/delivery.ts";
import { closedObject, nullable } from "../openapi/schemas.ts";
import { Type } from "../openapi/type.ts";

const time = (description: string) =>
  Type.String({ description, examples: ["2026-11-14T12:00:00.000Z"] });

export const DeliverySchema = closedObject(
  {
    id: Type.String({
      description: "Of the form `dlv_<id>`; the header X-Service-Delivery carries it.",
    }),
    kind: Type.Enum([...deliveryKinds], {
      description: "`event` as it happened, `replay` asked for again, `test` to try the webhook.",
    }),
    state: Type.Enum([...deliveryStates]),
    event: closedObject({
      id: Type.String({
        description: "The header webhook-id carries it; the same on every retry and replay.",
      }),
      type: Type.String(),
      sequence: nullable<number>("integer", "Null for a test."),
      flagKey: nullable<string>("string", "Null for a test."),
    }),
    createdAt: time("When it was queued."),
    settledAt: nullable<string>("string", "When it was delivered or given up."),
    nextAttemptAt: nullable<string>("string", "When the next attempt is due."),
    attempts: Type.Array(
      closedObject({
        at: time("When it began."),
        status: nullable<number>("integer", "The status of the answer, when there was one."),
        error: nullable<string>("string", "Why it does not count as delivered."),
        milliseconds: Type.Integer(),
        response: nullable<string>("string", "The first 1 KiB of the answer's body."),
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
      url: Type.String({ description: "The address of the webhook." }),
      headers: Type.Record(Type.String(), Type.String(), {
        description: "Those that every attempt carries; timestamp and signatures are made anew.",
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

export const shownDelivery = (delivery: Delivery) => ({
  ...delivery,
  createdAt: delivery.createdAt.toISOString(),
  settledAt: delivery.settledAt?.toISOString() ?? null,
  nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
  attempts: delivery.attempts.map(({ at, status, error, milliseconds, response }) => ({
    at: at.toISOString(),
    status,
    error,
    milliseconds,
    response,
  })),
});
