// /stream: the flags of the environment, and every change as it happens.
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { ApiKeyCache } from "../../platform/auth/key-cache.ts";
import { answers } from "../../platform/http/openapi/describe.ts";
import { noQuery } from "../../platform/http/openapi/schemas.ts";
import type { ChangeFeed } from "../change-feed.ts";
import { clientHeader, clientIdOf } from "../clients/client-id.ts";
import type { Clients } from "../clients/connected-clients.ts";
import { revisionNumber } from "../recent-changes.ts";
import type { Snapshots } from "../snapshots.ts";
import { type EventStreams, lastEventIdOf } from "./event-streams.ts";
import { createFlagStreams } from "./flag-stream.ts";

export interface StreamDependencies {
  readonly snapshots: Snapshots;
  readonly feed: Pick<ChangeFeed, "catchUpSoon">;
  readonly clients: Clients;
  readonly keyCache: ApiKeyCache;
  readonly streams: EventStreams;
}

const Headers = Type.Object({
  ...clientHeader,
  "last-event-id": Type.Optional(
    Type.String({
      description: "The id of the last event received: only what came after is sent.",
    }),
  ),
});

const example = `retry: 2000
id: 12-mb3k2x1
event: snapshot
data: {"environment":"production","revision":12,"at":"2026-11-14T12:00:00.000Z","flags":[{"version":3,"flag":{"key":"new-checkout","type":"boolean","enabled":false,"description":null}}]}

id: 13-mb3k2zz
event: change
data: {"revision":13,"at":"2026-11-14T12:00:03.000Z","key":"new-checkout","version":4,"flag":{"key":"new-checkout","type":"boolean","enabled":true,"description":null}}

`;

export const streamRoutes = (app: FastifyInstance, dependencies: StreamDependencies): void => {
  const { snapshots, feed, keyCache, streams, clients } = dependencies;
  const flagStreams = createFlagStreams(snapshots, streams);

  app.get(
    "/stream",
    {
      config: { permission: "flags.follow", unlimited: true },
      schema: {
        tags: ["Evaluation"],
        operationId: "streamFlags",
        summary: "Follow the flags",
        description:
          "Server-sent events: first `snapshot` with all flags and segments, then `change` for each change of a flag and `segment` for each of a segment, in order and without gaps; `flag` or `segment` is null when it was deleted. A comment line every 15 seconds says that the connection is alive. Reconnect with `Last-Event-ID`: if that revision is recent enough, only the changes since are sent. The stream ends when the key is revoked or expires, when the session ends, when the server stops and when the reader does not keep up.",
        querystring: noQuery,
        headers: Headers,
        response: answers({
          200: { description: "The events.", text: { type: "text/event-stream", example } },
        }),
      },
    },
    async (request, reply) => {
      const { principal, isOpen } = request.auth;
      const lastEventId = lastEventIdOf(request);
      const known = snapshots.get(principal.environment.id)?.revision ?? 0;
      // Another instance has told this client more than we know.
      if (revisionNumber(lastEventId) > known) await feed.catchUpSoon();
      const holder = { environmentId: principal.environment.id, keyId: principal.keyId };
      const clientId = clientIdOf(request);
      return streams.open(reply, {
        kind: "flags",
        holder,
        isOpen,
        // The page is no program that evaluates.
        opened: isOpen ? undefined : () => clients.streams(holder, clientId),
        begin: () => {
          const snapshot = snapshots.get(principal.environment.id);
          return snapshot && keyCache.isValid(principal.keyId)
            ? flagStreams.begin(snapshot, lastEventId)
            : undefined;
        },
      });
    },
  );
};
