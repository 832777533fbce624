// /webhooks/:id/...: send again, send a test event, change the secret.
import type { FastifyInstance } from "fastify";
import { invalidField } from "../../errors.ts";
import { type Deliveries, maxReplay } from "../../management/deliveries.ts";
import { sendFailure } from "../errors/error-reply.ts";
import { answers, headers, route, withBody } from "../openapi/describe.ts";
import {
  closedObject,
  type DeliveryPath,
  deliveryPath,
  idempotencyHeader,
  nullable,
  type WebhookPath,
  webhookPath,
} from "../openapi/schemas.ts";
import { type Static, Type } from "../openapi/type.ts";
import { deliveryExample, deliveryReference, shownDelivery } from "./delivery-schema.ts";
import { replyIdempotently } from "./idempotency.ts";

const tags = ["Webhooks"];
const closed = { additionalProperties: false } as const;

const moment = (description: string) =>
  Type.String({
    maxLength: 40,
    description,
    "x-must-be": "a time such as 2026-11-14T12:00:00Z",
    examples: ["2026-11-14T12:00:00Z"],
  });
const ReplayBody = closedObject({
  afterSequence: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "Every event with a higher sequence number.",
      "x-must-be": "a whole number, 0 or more",
    }),
  ),
  from: Type.Optional(moment("Every event from this time on.")),
  to: Type.Optional(moment("Every event up to this time.")),
});
const ReplayedSchema = closedObject({
  replayed: Type.Integer({ description: "How many events were queued." }),
  throughSequence: nullable<number>("integer", "The last of them; null when there was none."),
  complete: Type.Boolean({
    description: `Whether that was the whole range. At most ${maxReplay} are queued at once: go on with afterSequence.`,
  }),
});

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
const RotatedSchema = closedObject({
  secret: Type.String({ description: "The new secret. Shown this once." }),
  previousSecretValidUntil: nullable<string>(
    "string",
    "When the secret before it stops being used.",
  ),
});

/** A day, or a time with its zone: without one it would mean another moment on each server. */
const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;

/** The range that is asked for, or what is wrong with it. */
const rangeOf = (body: Static<typeof ReplayBody>) => {
  const times = { from: body.from, to: body.to };
  for (const [field, text] of Object.entries(times)) {
    if (text !== undefined && (!isTime.test(text) || Number.isNaN(Date.parse(text)))) {
      return invalidField(field, "must be a time such as 2026-11-14T12:00:00Z");
    }
  }
  if (body.afterSequence === undefined && body.from === undefined && body.to === undefined) {
    return invalidField(
      "afterSequence",
      "is required, or from and to, to say which events are to be sent again",
    );
  }
  if (Date.parse(body.to ?? "") < Date.parse(body.from ?? "")) {
    return invalidField("to", "must not be before from");
  }
  return {
    ...(body.afterSequence !== undefined && { afterSequence: body.afterSequence }),
    ...(body.from !== undefined && { from: new Date(body.from) }),
    ...(body.to !== undefined && { to: new Date(body.to) }),
  };
};

export const replayRoutes = (app: FastifyInstance, deliveries: Deliveries): void => {
  const accepted = {
    description: "It is queued; the delivery log tells what becomes of it.",
    schema: deliveryReference,
    example: { ...deliveryExample, state: "pending", settledAt: null, attempts: [] },
    headers: headers.repeated,
  };

  app.post<{ Params: WebhookPath }>(
    "/webhooks/:id/test",
    route("webhooks.write", {
      tags,
      operationId: "testWebhook",
      summary: "Send a test event",
      description: "A `webhook.test` event to this webhook alone, whatever it is subscribed to.",
      params: webhookPath,
      headers: idempotencyHeader,
      response: answers({ 202: accepted }, "NOT_FOUND", "CONFLICT", ...withBody),
    }),
    (request, reply) =>
      replyIdempotently(
        request,
        reply,
        (caller, once) => deliveries.test(caller, request.params.id, once),
        (value) => reply.code(202).send(shownDelivery(value)),
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
        (value) => reply.code(202).send(shownDelivery(value)),
      );
    },
  );

  app.post<{ Params: WebhookPath; Body: Static<typeof ReplayBody> }>(
    "/webhooks/:id/replay",
    route("webhooks.write", {
      tags,
      operationId: "replayRange",
      summary: "Send a range of events again",
      description:
        "Events of the last 90 days that the webhook is subscribed to, in order per flag; fresh events go first.",
      params: webhookPath,
      headers: idempotencyHeader,
      body: { ...ReplayBody, examples: [{ afterSequence: 811 }] },
      response: answers(
        {
          202: {
            description: "They are queued.",
            schema: ReplayedSchema,
            example: { replayed: 3, throughSequence: 814, complete: true },
            headers: headers.repeated,
          },
        },
        "NOT_FOUND",
        "CONFLICT",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const range = rangeOf(request.body);
      if ("code" in range) return sendFailure(reply, range);
      return replyIdempotently(
        request,
        reply,
        (caller, once) => deliveries.replayRange(caller, request.params.id, range, once),
        ({ count, throughSequence, complete }) =>
          reply.code(202).send({ replayed: count, throughSequence, complete }),
      );
    },
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
