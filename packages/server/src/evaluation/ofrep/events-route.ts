// /ofrep/v1/events: tells OpenFeature clients when to evaluate again.
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { isFromAllowedPage } from "../../platform/auth/authenticate.ts";
import type { EventTokens } from "../../platform/auth/event-token.ts";
import type { ApiKeyCache } from "../../platform/auth/key-cache.ts";
import { sendFailure } from "../../platform/http/errors/error-reply.ts";
import { protocolOpenAnswers } from "../../platform/http/openapi/describe.ts";
import { allowPages, answerPreflights } from "../../platform/http/request/cors.ts";
import type { ChangeFeed } from "../change-feed.ts";
import type { Clients } from "../clients/connected-clients.ts";
import { revisionNumber } from "../recent-changes.ts";
import type { Snapshots } from "../snapshots.ts";
import { type EventStreams, lastEventIdOf } from "../streams/event-streams.ts";
import { createRefetchStreams } from "../streams/refetch-stream.ts";

export interface RefetchDependencies {
  readonly snapshots: Snapshots;
  readonly feed: Pick<ChangeFeed, "catchUpSoon">;
  readonly keyCache: ApiKeyCache;
  readonly eventTokens: EventTokens;
  readonly clients: Clients;
  readonly streams: EventStreams;
}

const Query = Type.Object({
  token: Type.String({
    description: "Part of the URL in `eventStreams` of a bulk evaluation.",
    "x-must-be": "the token of an address in eventStreams",
  }),
});

const example = `retry: 2000
id: 13-mb3k2zz
data: {"type":"refetchEvaluation","etag":"13-mb3k2zz","lastModified":1794657603}

`;

export const refetchRoutes = (app: FastifyInstance, dependencies: RefetchDependencies): void => {
  const { snapshots, feed, keyCache, eventTokens, streams, clients } = dependencies;
  const refetchStreams = createRefetchStreams(snapshots, streams);

  answerPreflights(app, "/events", ["GET"]);
  app.get<{ Querystring: Static<typeof Query> }>(
    "/events",
    {
      schema: {
        tags: ["Evaluation"],
        operationId: "streamRefetchEvents",
        summary: "Be notified when to evaluate again",
        description:
          "Server-sent events of the type `refetchEvaluation`. Changes in quick succession are sent as one event. The token in the URL is valid for one to two hours, to connect and to reconnect; the stream itself lasts until the key is revoked. Without `Last-Event-ID`, or with one that is not current, the first event is sent immediately.",
        querystring: Query,
        response: protocolOpenAnswers(
          { 200: { description: "The events.", text: { type: "text/event-stream", example } } },
          "VALIDATION_FAILED",
          "UNAUTHORIZED",
          "RATE_LIMITED",
          "INTERNAL",
          "UNAVAILABLE",
        ),
      },
    },
    async (request, reply) => {
      const token = eventTokens.verify(request.query.token);
      const holder = token && (await keyCache.holder(token.keyId));
      // The page of an EventSource on the server's own origin sends none: the token shows that it was allowed to evaluate.
      const isElsewhere =
        request.headers.origin !== undefined &&
        holder !== undefined &&
        !isFromAllowedPage(holder, request.headers);
      if (!holder || isElsewhere) {
        return sendFailure(reply, {
          code: "UNAUTHORIZED",
          message:
            "This token is not valid, or no longer; evaluate all flags to get a new address.",
        });
      }
      const { keyId } = holder;
      const { id: environmentId } = holder.environment;
      const lastEventId = lastEventIdOf(request);
      const known = snapshots.get(environmentId)?.revision ?? 0;
      if (revisionNumber(lastEventId) > known) await feed.catchUpSoon();
      return streams.open(allowPages(reply, holder), {
        kind: "refetch",
        holder: { environmentId, keyId },
        opened: () => clients.streams({ environmentId, keyId }, undefined),
        begin: () => {
          const snapshot = snapshots.get(environmentId);
          return snapshot && keyCache.isValid(keyId)
            ? refetchStreams.begin(snapshot, lastEventId)
            : undefined;
        },
      });
    },
  );
};
