// /snapshot: the flags of the environment with their versions, for clients that poll instead of following the stream.
import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { ChangeFeed } from "../../evaluation/change-feed.ts";
import { clientHeader, clientIdOf } from "../../evaluation/clients/client-id.ts";
import type { Clients } from "../../evaluation/clients/connected-clients.ts";
import { revisionName, revisionNumber } from "../../evaluation/recent-changes.ts";
import type { Snapshots } from "../../evaluation/snapshots.ts";
import { pastSnapshotJson, snapshotJson } from "../../evaluation/streams/snapshot-json.ts";
import { jsonType, keyRefused, sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route } from "../../platform/http/openapi/describe.ts";
import {
  closedObject,
  flagExample,
  flagReference,
  freshnessHeader,
  nullable,
} from "../../platform/http/openapi/schemas.ts";
import { sendCompressed } from "../../platform/http/request/compressed.ts";
import { sendNotModified } from "../../platform/http/request/conditional.ts";
import { type PastQuery, pastQuery, tellRevision, whenOf } from "../history/past-parameters.ts";
import type { AsItWas } from "../history/past-reads.ts";
import { segmentReference } from "../segments/schemas.ts";

export interface SnapshotDependencies {
  readonly snapshots: Snapshots;
  readonly feed: Pick<ChangeFeed, "catchUpSoon">;
  readonly clients: Clients;
  readonly past: AsItWas;
}

const SnapshotSchema = closedObject({
  environment: Type.String(),
  revision: Type.Integer({ description: "Counts the changes of the environment." }),
  at: nullable<string>(
    "string",
    "When the revision was made, ISO 8601 in UTC; null before the first change, and when history no longer has it.",
  ),
  flags: Type.Array(
    closedObject({
      version: Type.Integer(),
      flag: Type.Unsafe<unknown>(flagReference),
      level: Type.Optional(
        Type.Integer({
          description:
            "What a client must understand to evaluate the flag; 1 when it is absent. A client does not evaluate a level that it does not know.",
        }),
      ),
    }),
    { description: "Sorted by key." },
  ),
  segments: Type.Optional(
    Type.Array(
      closedObject({
        version: Type.Integer(),
        segment: Type.Unsafe<unknown>(segmentReference),
      }),
      { description: "Sorted by key; absent when there are none." },
    ),
  ),
});

export const snapshotRoutes = (app: FastifyInstance, dependencies: SnapshotDependencies): void => {
  const { snapshots, feed, clients, past } = dependencies;
  app.get<{ Querystring: PastQuery }>(
    "/snapshot",
    route(
      "flags.follow",
      {
        tags: ["Evaluation"],
        operationId: "getSnapshot",
        summary: "Read the snapshot of the environment",
        description:
          "What the `snapshot` event of the stream carries: every flag and every segment with its version. From memory, at most moments old. With `at` or `revision` as it was then, from history.",
        querystring: pastQuery,
        headers: Type.Object({ ...freshnessHeader.properties, ...clientHeader }),
        response: answers(
          {
            200: {
              description: "The snapshot.",
              schema: SnapshotSchema,
              example: {
                environment: "production",
                revision: 812,
                at: "2026-11-14T12:00:00.000Z",
                flags: [{ version: 7, flag: flagExample }],
              },
              headers: { ...headers.snapshotTag, ...headers.pastRevision },
            },
            304: { description: "Nothing has changed.", headers: headers.snapshotTag },
          },
          "CONFLICT",
        ),
      },
      { large: "past" },
    ),
    async (request, reply) => {
      const { keyId, environment } = request.auth.principal;
      const { id: environmentId } = environment;
      const when = whenOf(request.query);
      if (!when.ok) return sendFailure(reply, when.failure);
      if (when.value) {
        const found = await past.snapshot(environment, when.value);
        if (!found.ok) return sendFailure(reply, found.failure);
        const { revision, changedAt } = found.value;
        tellRevision(reply, revision);
        if (sendNotModified(request, reply, revisionName(revision, changedAt))) return reply;
        const json = pastSnapshotJson(environment.name, found.value);
        return reply.type(jsonType).send(Readable.from(json, { objectMode: false }));
      }
      const clientId = clientIdOf(request);
      if (clientId !== undefined) clients.polls({ environmentId, keyId }, clientId);
      const seen = /"([^"]+)"/.exec(request.headers["if-none-match"] ?? "")?.[1] ?? "";
      // Another instance has sent this client more than is known here.
      if (revisionNumber(seen) > (snapshots.get(environmentId)?.revision ?? 0)) {
        await feed.catchUpSoon();
      }
      const snapshot = snapshots.get(environmentId);
      if (!snapshot) return sendFailure(reply, keyRefused);
      if (sendNotModified(request, reply, snapshot.name)) return reply;
      return sendCompressed(request, reply.type(jsonType), snapshotJson(snapshot));
    },
  );
};
