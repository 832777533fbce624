// /events: the events of the environment as receivers get them, for those who pull instead of receiving webhooks.
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { invalidField } from "../../platform/errors.ts";
import { jsonType, sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route } from "../../platform/http/openapi/describe.ts";
import { moment, momentRule, readMoment } from "../../platform/http/openapi/moment.ts";
import { closedObject, flagExample, pageParameters } from "../../platform/http/openapi/schemas.ts";
import { sendNextLink } from "../../platform/http/paging.ts";
import type { History } from "./history.ts";

const defaultLimit = 100;

const Query = closedObject({
  limit: pageParameters.limit,
  after: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "Only events with a higher `sequence`: that of the last event you have.",
      "x-must-be": "a whole number, the sequence of an event",
    }),
  ),
  since: Type.Optional(moment("Only events since this time.")),
});

const example = {
  id: "evt_01kh1v6f8e3w0c2n5t7y9b4d6a",
  type: "flag.enabled",
  createdAt: "2026-11-14T12:00:00.000Z",
  environment: "production",
  sequence: 812,
  chain: "3a7bd3e2360a3d29eea436fcfb7e44c735d117c42d1c1835420b6b9942dd4f1b",
  data: { flag: flagExample, version: 7, previous: { enabled: false } },
  actor: { keyId: "9f86d081884c7d65", name: "ci" },
};

const comma = Buffer.from(",");
const arrayOf = (bodies: readonly Uint8Array[]): Buffer =>
  Buffer.concat([
    Buffer.from("["),
    ...bodies.flatMap((body, index) => (index === 0 ? [body] : [comma, body])),
    Buffer.from("]"),
  ]);

export const eventRoutes = (app: FastifyInstance, history: History): void => {
  app.get<{ Querystring: Static<typeof Query> }>(
    "/events",
    route(
      "history.read",
      {
        tags: ["History"],
        operationId: "getEvents",
        summary: "Read the events of the environment",
        description:
          "The events that webhooks receive, with the same bytes, oldest first. With `after` the next ones after that number, with `since` those since that time, without both the newest. A page ends early when its events have more than 8 MiB. A Link leads to later events: follow it until there is none. An event is kept as long as the delivery log; a `sequence` that does not follow the one before tells that events in between are no longer kept.",
        querystring: Query,
        response: answers({
          200: {
            description: "The events.",
            schema: Type.Array(Type.Unsafe<object>({ type: "object", additionalProperties: true })),
            example: [example],
            headers: headers.next,
          },
        }),
      },
      { large: "always" },
    ),
    async (request, reply) => {
      const { limit = defaultLimit, after, since } = request.query;
      const from = since === undefined ? undefined : readMoment(since);
      if (since !== undefined && from === undefined) {
        return sendFailure(reply, invalidField("since", `must be ${momentRule}`));
      }
      const { events, hasMore } = await history.events(request.auth.principal.environment, {
        limit,
        ...(after !== undefined && { after }),
        ...(from !== undefined && { since: from }),
      });
      const last = events.at(-1);
      if (last && hasMore) sendNextLink(request, reply, { after: String(last.sequence) });
      return reply.type(jsonType).send(arrayOf(events.map(({ body }) => body)));
    },
  );
};
