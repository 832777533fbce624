// /webhooks/:id/...: send one event again or all that failed, send a test event, change the secret.
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { hideSecretsFrom } from "../../../platform/auth/hide-secrets.ts";
import { testEventType } from "../../../platform/events.ts";
import { answers, headers, route, withBody } from "../../../platform/http/openapi/describe.ts";
import {
  closedObject,
  type DeliveryPath,
  deliveryPath,
  idempotencyHeader,
  nullable,
  type WebhookPath,
  webhookPath,
} from "../../../platform/http/openapi/schemas.ts";
import { replyIdempotently } from "../../../writes/idempotent-route.ts";
import { type TestableType, testableTypes } from "../../../writes/webhook.ts";
import type { Deliveries } from "./deliveries.ts";
import { deliveryExample, deliveryReference, shownDelivery } from "./schemas.ts";

const tags = ["Webhooks"];
const closed = { additionalProperties: false } as const;

/** It may be left out. */
const RotateBody = Type.Unsafe<{ immediately?: boolean } | undefined>({
  type: ["object", "null"],
  properties: {
    immediately: {
      type: "boolean",
      description: "Do not keep the old secret for 24 hours.",
      "x-must-be": "true or false",
    },
  },
  ...closed,
});
/** It may be left out. */
const TestBody = Type.Unsafe<{ type?: TestableType } | undefined>({
  type: ["object", "null"],
  properties: {
    type: {
      type: "string",
      enum: [...testableTypes],
      description: `The type of the event, ${testEventType} by default. The others describe a flag "example".`,
      "x-must-be": `one of ${testableTypes.join(", ")}`,
    },
  },
  ...closed,
});
const RetriedSchema = closedObject({
  retried: Type.Integer({ description: "How many failed deliveries are pending again." }),
  complete: Type.Boolean({ description: "False when there may be more: send it again." }),
});
const RotatedSchema = closedObject({
  secret: Type.String({ description: "The new secret. Shown this once." }),
  previousSecretValidUntil: nullable<string>(
    "string",
    "When the secret before it stops being used.",
  ),
});

export const replayRoutes = (app: FastifyInstance, deliveries: Deliveries): void => {
  const accepted = {
    description: "It is queued; the delivery log shows the result.",
    schema: deliveryReference,
    example: { ...deliveryExample, state: "pending", settledAt: null, attempts: [] },
    headers: headers.repeated,
  };

  app.post<{ Params: WebhookPath; Body: Static<typeof TestBody> }>(
    "/webhooks/:id/test",
    route("webhooks.write", {
      tags,
      operationId: "testWebhook",
      summary: "Send a test event",
      description:
        "An event to this webhook alone, whatever it is subscribed to: `webhook.test`, or one that looks like a flag's. Its `sequence` is null.",
      params: webhookPath,
      body: { ...TestBody, examples: [{ type: "flag.enabled" }] },
      headers: idempotencyHeader,
      response: answers({ 202: accepted }, "NOT_FOUND", "CONFLICT", ...withBody),
    }),
    (request, reply) =>
      replyIdempotently(
        request,
        reply,
        (caller, once) =>
          deliveries.test(caller, request.params.id, request.body?.type ?? testEventType, once),
        (value) =>
          reply.code(202).send(shownDelivery(value, hideSecretsFrom(request.auth.principal))),
      ),
  );

  app.post<{ Params: DeliveryPath }>(
    "/webhooks/:id/deliveries/:deliveryId/replay",
    route("webhooks.write", {
      tags,
      operationId: "replayDelivery",
      summary: "Send one event again",
      params: deliveryPath,
      headers: idempotencyHeader,
      response: answers({ 202: accepted }, "NOT_FOUND", "CONFLICT", ...withBody),
    }),
    (request, reply) => {
      const { id, deliveryId } = request.params;
      return replyIdempotently(
        request,
        reply,
        (caller, once) => deliveries.replay(caller, id, deliveryId, once),
        (value) =>
          reply.code(202).send(shownDelivery(value, hideSecretsFrom(request.auth.principal))),
      );
    },
  );

  app.post<{ Params: WebhookPath }>(
    "/webhooks/:id/retry",
    route("webhooks.write", {
      tags,
      operationId: "retryDeliveries",
      summary: "Retry now",
      description:
        "Deliveries that wait for their retry are attempted now, and up to 500 failed ones get one more attempt each, after live events.",
      params: webhookPath,
      headers: idempotencyHeader,
      response: answers(
        {
          202: {
            description: "They are due; the health of the webhook shows the result.",
            schema: RetriedSchema,
            example: { retried: 12, complete: true },
            headers: headers.repeated,
          },
        },
        "NOT_FOUND",
        "CONFLICT",
        ...withBody,
      ),
    }),
    (request, reply) =>
      replyIdempotently(
        request,
        reply,
        (caller, once) => deliveries.retry(caller, request.params.id, once),
        (value) => reply.code(202).send(value),
      ),
  );

  app.post<{ Params: WebhookPath; Body: Static<typeof RotateBody> }>(
    "/webhooks/:id/secret/rotate",
    route("webhooks.write", {
      tags,
      operationId: "rotateSecret",
      summary: "Change the secret",
      description:
        "For 24 hours `webhook-signature` carries signatures of both secrets and `X-Service-Signature` is made with the old one, so that no receiver breaks.",
      params: webhookPath,
      headers: idempotencyHeader,
      body: { ...RotateBody, examples: [{ immediately: false }] },
      response: answers(
        {
          200: {
            description: "The new secret.",
            schema: RotatedSchema,
            example: {
              secret: "whsec_<random>",
              previousSecretValidUntil: "2026-11-15T12:00:00.000Z",
            },
            headers: headers.repeated,
          },
        },
        "NOT_FOUND",
        "CONFLICT",
        ...withBody,
      ),
    }),
    (request, reply) => {
      const immediately = request.body?.immediately === true;
      return replyIdempotently(
        request,
        reply,
        (caller, once) => deliveries.rotateSecret(caller, request.params.id, immediately, once),
        ({ secret, previousUntil }) =>
          reply.send({
            secret,
            previousSecretValidUntil: previousUntil?.toISOString() ?? null,
          }),
      );
    },
  );
};
