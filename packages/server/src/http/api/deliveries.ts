// /webhooks/:id/deliveries: the delivery log.
import type { FastifyInstance } from "fastify";
import { deliveryStates } from "../../domain/delivery.ts";
import type { Deliveries } from "../../management/deliveries.ts";
import { sendFailure } from "../errors/error-reply.ts";
import { answers, headers, route } from "../openapi/describe.ts";
import {
  closedObject,
  cursorParameter,
  type DeliveryPath,
  deliveryPath,
  limitParameter,
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
import { badCursor, decodeCursor, sendNextLink } from "./paging.ts";

const tags = ["Webhooks"];
const defaultLimit = 100;

const LogQuery = closedObject({
  limit: Type.Optional(limitParameter),
  cursor: Type.Optional(cursorParameter),
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
      const before = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
      if (before !== undefined && !/^dlv_[0-9a-f]+$/.test(before))
        return sendFailure(reply, badCursor);
      const limit = query.limit ?? defaultLimit;
      const found = await deliveries.list(auth.principal.environment, params.id, {
        limit: limit + 1,
        ...(query.state !== undefined && { state: query.state }),
        ...(query.flag !== undefined && { flagKey: query.flag }),
        ...(before !== undefined && { before }),
      });
      if (!found.ok) return sendFailure(reply, found.failure);
      const page = found.value.slice(0, limit);
      const last = page.at(-1);
      if (last && found.value.length > limit) sendNextLink(request, reply, last.id);
      return reply.send(page.map(shownDelivery));
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
