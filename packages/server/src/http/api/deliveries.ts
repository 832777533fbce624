// /webhooks/:id/deliveries: the delivery log.
import type { FastifyInstance } from "fastify";
import { deliveryStates } from "../../domain/delivery.ts";
import type { Deliveries } from "../../management/deliveries.ts";
import { sendFailure } from "../errors/error-reply.ts";
import { answers, headers, route } from "../openapi/describe.ts";
import {
  closedObject,
  type DeliveryPath,
  deliveryPath,
  pageParameters,
  type WebhookPath,
  webhookPath,
} from "../openapi/schemas.ts";
import { type Static, Type } from "../openapi/type.ts";
import {
  deliveryExample,
  deliveryReference,
  SentDelivery,
  sentExample,
  shownDelivery,
} from "./delivery-schema.ts";
import { pageOf, sendPage } from "./paging.ts";

const tags = ["Webhooks"];

const LogQuery = closedObject({
  ...pageParameters,
  state: Type.Optional(
    Type.Enum([...deliveryStates], { "x-must-be": `one of ${deliveryStates.join(", ")}` }),
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
  app.get<{ Params: WebhookPath; Querystring: Static<typeof LogQuery> }>(
    "/webhooks/:id/deliveries",
    route("webhooks.read", {
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
    }),
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
      return sendPage(request, reply, found.value, page.value.limit, shownDelivery);
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
      const found = await deliveries.get(request.auth.principal.environment, id, deliveryId);
      if (!found.ok) return sendFailure(reply, found.failure);
      const { delivery, request: sent } = found.value;
      return reply.send({ ...shownDelivery(delivery), request: sent });
    },
  );
};
