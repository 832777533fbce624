// /webhooks: register, list, read, change and remove callbacks.
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { type HideSecrets, hideSecretsFrom } from "../../platform/auth/hide-secrets.ts";
import { sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route, withBody } from "../../platform/http/openapi/describe.ts";
import {
  closedObject,
  EventNames,
  idempotencyHeader,
  type WebhookPath,
  webhookExample,
  webhookFields,
  webhookPath,
  webhookReference,
} from "../../platform/http/openapi/schemas.ts";
import { replyIdempotently } from "../../writes/idempotent-route.ts";
import type { Webhook } from "../../writes/webhook.ts";
import type { Webhooks } from "./webhooks.ts";

const tags = ["Webhooks"];

const CreateBody = closedObject({
  url: Type.String({
    description: "An https address, at most 2,048 characters, without user, password or fragment.",
    "x-must-be": "an https address, such as https://example.com/hook",
  }),
  events: EventNames,
  cloudEvents: webhookFields.cloudEvents,
});

const fixed = "is fixed at creation and cannot be changed; create another webhook instead";
const PatchBody = closedObject(
  {
    active: Type.Optional(webhookFields.active),
    events: Type.Optional(EventNames),
    cloudEvents: webhookFields.cloudEvents,
  },
  { "x-refused": { url: fixed, id: fixed } },
);

const CreatedWebhook = closedObject({
  id: webhookFields.id,
  url: webhookFields.url,
  events: webhookFields.events,
  secret: Type.String({ description: "Signs every callback. Shown this once." }),
  active: webhookFields.active,
  cloudEvents: webhookFields.cloudEvents,
});

const shown = (webhook: Webhook, hide: HideSecrets) => ({
  id: webhook.id,
  url: hide.url(webhook.url),
  events: webhook.events,
  active: webhook.active,
  ...(webhook.cloudEvents && { cloudEvents: true }),
  createdAt: webhook.createdAt.toISOString(),
});

export const webhookRoutes = (app: FastifyInstance, webhooks: Webhooks): void => {
  app.get(
    "/webhooks",
    route("webhooks.read", {
      tags,
      operationId: "listWebhooks",
      summary: "List webhooks",
      response: answers({
        200: {
          description: "The webhooks, oldest first; without their secrets.",
          schema: Type.Array(Type.Unsafe<unknown>(webhookReference)),
          example: [webhookExample],
        },
      }),
    }),
    async ({ auth: { principal } }) => {
      const hide = hideSecretsFrom(principal);
      return (await webhooks.list(principal.environment)).map((each) => shown(each, hide));
    },
  );

  app.get<{ Params: WebhookPath }>(
    "/webhooks/:id",
    route("webhooks.read", {
      tags,
      operationId: "getWebhook",
      summary: "Read one webhook",
      params: webhookPath,
      response: answers(
        {
          200: { description: "The webhook.", schema: webhookReference, example: webhookExample },
        },
        "NOT_FOUND",
      ),
    }),
    async ({ auth: { principal }, params }, reply) => {
      const found = await webhooks.get(principal.environment, params.id);
      return found.ok
        ? shown(found.value, hideSecretsFrom(principal))
        : sendFailure(reply, found.failure);
    },
  );

  app.post<{ Body: Static<typeof CreateBody> }>(
    "/webhooks",
    route("webhooks.write", {
      tags,
      operationId: "createWebhook",
      summary: "Register a webhook",
      description: "The secret is in this answer and nowhere else: keep it.",
      headers: idempotencyHeader,
      body: {
        ...CreateBody,
        examples: [{ url: webhookExample.url, events: webhookExample.events }],
      },
      response: answers(
        {
          201: {
            description: "The webhook with its secret.",
            schema: CreatedWebhook,
            example: {
              id: webhookExample.id,
              url: webhookExample.url,
              events: webhookExample.events,
              secret: "whsec_<random>",
              active: true,
            },
            headers: headers.repeated,
          },
        },
        "CONFLICT",
        ...withBody,
      ),
    }),
    (request, reply) =>
      replyIdempotently(
        request,
        reply,
        (caller, once) => webhooks.create(caller, request.body, once),
        ({ webhook: { id, url, events, active, cloudEvents }, secret }) =>
          reply
            .code(201)
            .send({ id, url, events, secret, active, ...(cloudEvents && { cloudEvents }) }),
      ),
  );

  app.patch<{ Params: WebhookPath; Body: Static<typeof PatchBody> }>(
    "/webhooks/:id",
    route("webhooks.write", {
      tags,
      operationId: "updateWebhook",
      summary: "Change a webhook",
      description: "Activate or deactivate it, choose other events, or the headers of CloudEvents.",
      params: webhookPath,
      body: { ...PatchBody, examples: [{ active: false }] },
      response: answers(
        {
          200: {
            description: "The webhook as it is now.",
            schema: webhookReference,
            example: { ...webhookExample, active: false },
          },
        },
        "NOT_FOUND",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const { params, body } = request;
      const { principal } = request.auth;
      const patched = await webhooks.patch(principal, params.id, body);
      return patched.ok
        ? shown(patched.value, hideSecretsFrom(principal))
        : sendFailure(reply, patched.failure);
    },
  );

  app.delete<{ Params: WebhookPath }>(
    "/webhooks/:id",
    route("webhooks.write", {
      tags,
      operationId: "deleteWebhook",
      summary: "Remove a webhook",
      description: "Its pending deliveries are dropped.",
      params: webhookPath,
      response: answers({ 204: { description: "It is gone." } }, "NOT_FOUND", ...withBody),
    }),
    async (request, reply) => {
      const removed = await webhooks.remove(request.auth.principal, request.params.id);
      return removed.ok ? reply.code(204).send() : sendFailure(reply, removed.failure);
    },
  );
};
