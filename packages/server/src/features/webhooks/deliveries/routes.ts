// /webhooks/:id/deliveries: the delivery log; /webhook-health: what is on its way, and how it goes.

import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { hideSecretsFrom } from "../../../platform/auth/hide-secrets.ts";
import { sendFailure } from "../../../platform/http/errors/error-reply.ts";
import { answers, headers, route } from "../../../platform/http/openapi/describe.ts";
import {
  closedObject,
  type DeliveryPath,
  deliveryPath,
  pageParameters,
  type WebhookPath,
  webhookPath,
} from "../../../platform/http/openapi/schemas.ts";
import { stringEnum } from "../../../platform/http/openapi/string-enum.ts";
import { pageOf, sendPage } from "../../../platform/http/paging.ts";
import type { Deliveries } from "./deliveries.ts";
import { deliveryFilters } from "./rules.ts";
import {
  DetailedHealthSchema,
  deliveryExample,
  deliveryReference,
  detailedHealthExample,
  HealthSchema,
  healthExample,
  SentDelivery,
  sentExample,
  shownDelivery,
  shownDetailedHealth,
  shownHealth,
} from "./schemas.ts";

const tags = ["Webhooks"];

const LogQuery = closedObject({
  ...pageParameters,
  state: Type.Optional(
    stringEnum([...deliveryFilters], {
      description: "`retrying` are the pending ones that have failed before.",
      "x-must-be": `one of ${deliveryFilters.join(", ")}`,
    }),
  ),
  flag: Type.Optional(
    Type.String({
      maxLength: 128,
      description: "Only of this flag.",
      "x-must-be": "the key of a flag",
    }),
  ),
});

const readId = (cursor: string): string | undefined =>
  /^dlv_[0-9a-f]+$/.test(cursor) ? cursor : undefined;

export const deliveryRoutes = (app: FastifyInstance, deliveries: Deliveries): void => {
  app.get(
    "/webhook-health",
    route("webhooks.read", {
      tags,
      operationId: "listWebhookHealth",
      summary: "Read the health of all webhooks",
      response: answers({
        200: {
          description: "The health of every webhook, in the order of the list.",
          schema: Type.Array(HealthSchema),
          example: [healthExample],
        },
      }),
    }),
    async (request) =>
      (await deliveries.healthOfAll(request.auth.principal.environment)).map(shownHealth),
  );

  app.get<{ Params: WebhookPath }>(
    "/webhooks/:id/health",
    route("webhooks.read", {
      tags,
      operationId: "getWebhookHealth",
      summary: "Read the health of a webhook",
      description:
        "What is still to be delivered and what waits behind what, how the last attempts went, and when the next one is made.",
      params: webhookPath,
      response: answers(
        {
          200: {
            description: "The health.",
            schema: DetailedHealthSchema,
            example: detailedHealthExample,
          },
        },
        "NOT_FOUND",
      ),
    }),
    async (request, reply) => {
      const found = await deliveries.health(request.auth.principal.environment, request.params.id);
      return found.ok ? shownDetailedHealth(found.value) : sendFailure(reply, found.failure);
    },
  );

  app.get<{ Params: WebhookPath; Querystring: Static<typeof LogQuery> }>(
    "/webhooks/:id/deliveries",
    route(
      "webhooks.read",
      {
        tags,
        operationId: "listDeliveries",
        summary: "Read the delivery log",
        description: "Newest first, each with its attempts. Kept for 90 days.",
        params: webhookPath,
        querystring: LogQuery,
        response: answers(
          {
            200: {
              description: "The deliveries.",
              schema: Type.Array(Type.Unsafe<unknown>(deliveryReference)),
              example: [deliveryExample],
              headers: headers.next,
            },
          },
          "NOT_FOUND",
        ),
      },
      { large: "always" },
    ),
    async (request, reply) => {
      const { query, params, auth } = request;
      const page = pageOf(query, readId);
      if (!page.ok) return sendFailure(reply, page.failure);
      const found = await deliveries.list(auth.principal.environment, params.id, {
        ...page.value,
        ...(query.state !== undefined && { state: query.state }),
        ...(query.flag !== undefined && { flagKey: query.flag }),
      });
      if (!found.ok) return sendFailure(reply, found.failure);
      const hide = hideSecretsFrom(auth.principal);
      return sendPage(request, reply, found.value, page.value.limit, (delivery) =>
        shownDelivery(delivery, hide),
      );
    },
  );

  app.get<{ Params: DeliveryPath }>(
    "/webhooks/:id/deliveries/:deliveryId",
    route("webhooks.read", {
      tags,
      operationId: "getDelivery",
      summary: "Read one delivery",
      description: "With the request that is sent: its body, and the headers of every attempt.",
      params: deliveryPath,
      response: answers(
        {
          200: {
            description: "The delivery.",
            schema: SentDelivery,
            example: sentExample,
          },
        },
        "NOT_FOUND",
      ),
    }),
    async (request, reply) => {
      const { id, deliveryId } = request.params;
      const { principal } = request.auth;
      const found = await deliveries.get(principal.environment, id, deliveryId);
      if (!found.ok) return sendFailure(reply, found.failure);
      const { delivery, request: sent } = found.value;
      const hide = hideSecretsFrom(principal);
      return reply.send({
        ...shownDelivery(delivery, hide),
        request: { ...sent, url: hide.url(sent.url) },
      });
    },
  );
};
