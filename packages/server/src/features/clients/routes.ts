// /clients: what the programs that evaluate by themselves have applied, and who lacks a change.

import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import type { Clients } from "../../evaluation/clients/connected-clients.ts";
import {
  reportedClient,
  reportedClientExample,
  takeReport,
} from "../../evaluation/clients/reported-client.ts";
import { jsonType, sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, route, withBody } from "../../platform/http/openapi/describe.ts";
import { closedObject, noQuery, nullable } from "../../platform/http/openapi/schemas.ts";
import { stringEnum } from "../../platform/http/openapi/string-enum.ts";
import { sendCompressed } from "../../platform/http/request/compressed.ts";
import type { Arrivals } from "./clients.ts";
import type { Arrival } from "./rules.ts";

export interface ClientDependencies {
  readonly clients: Clients;
  readonly arrivals: Arrivals;
}

const tags = ["Programs"];

const Report = closedObject(
  {
    ...reportedClient,
    leaving: Type.Optional(
      Type.Boolean({
        description: "Whether the program stops: it is not listed any more.",
        "x-must-be": "true or false",
      }),
    ),
  },
  { examples: [reportedClientExample] },
);

const Query = closedObject({
  revision: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1e15,
      description: "Who has this revision; the newest by default.",
      "x-must-be": "a revision of the environment, a whole number",
    }),
  ),
});

const state = stringEnum(["current", "behind", "lost"], {
  description:
    "`current` has the revision, `behind` does not yet, `lost` has not been heard of: an instance without a heartbeat for 6 seconds, a client of such an instance, or one whose connection is gone.",
});
const shown = {
  revision: Type.Integer({ description: "What it has applied; 0 before it has told." }),
  state,
  lag: Type.Integer({ description: "How many revisions it is behind." }),
};
const seenAt = Type.String({ description: "When it was last heard of, ISO 8601 in UTC." });

const Answer = closedObject({
  revision: Type.Integer({ description: "What this is about." }),
  changedAt: nullable<string>(
    "string",
    "When the revision was made; null before the first, and when the history has it no more.",
  ),
  reached: closedObject(
    {
      of: Type.Integer(),
      have: Type.Integer(),
      within: nullable<number>(
        "integer",
        "Milliseconds from the change until the last had it, of those that were there; null while some lag, and when none was.",
      ),
    },
    { description: "How many programs there are, instances and clients, and how many have it." },
  ),
  told: Type.Integer({
    description:
      "Streams that were told of it and do not say what they have applied: those of OFREP clients, which evaluate again, and of programs without an id.",
  }),
  instances: Type.Array(
    closedObject({
      ...{ id: Type.String(), name: Type.String(), version: Type.String() },
      ...shown,
      seenAt,
      startedAt: Type.String({ description: "ISO 8601 in UTC." }),
    }),
  ),
  clients: Type.Array(
    closedObject({
      ...{ id: Type.String(), name: Type.String(), sdk: Type.String() },
      connection: stringEnum(["stream", "poll"]),
      instance: Type.String({ description: "The name of the instance that it is connected to." }),
      ...shown,
      appliedAt: nullable<string>("string", "When it told of its revision; null before it did."),
      seenAt,
    }),
    { description: "At most 1000, those that lag first." },
  ),
  clientsLeftOut: Type.Integer({ description: "How many more there are." }),
});

const at = "2026-11-14T12:00:00.000Z";
const example = {
  revision: 812,
  changedAt: at,
  reached: { of: 2, have: 2, within: 80 },
  told: 12,
  instances: [
    {
      ...{ id: "9f86d081884c7d65", name: "flags-0:4400", version: "0.1.0", revision: 812 },
      ...{ state: "current", lag: 0, seenAt: at, startedAt: at },
    },
  ],
  clients: [
    {
      ...{ id: reportedClientExample.id, name: reportedClientExample.name, sdk: "js/0.1.0" },
      ...{ connection: "stream", instance: "flags-0:4400", revision: 812 },
      ...{ state: "current", lag: 0, appliedAt: at, seenAt: at },
    },
  ],
  clientsLeftOut: 0,
};

const iso = (time: number): string => new Date(time).toISOString();
const isoOrNull = (time: number | null): string | null => (time === null ? null : iso(time));

const bodyOf = (arrival: Arrival): string =>
  JSON.stringify({
    ...arrival,
    changedAt: isoOrNull(arrival.changedAt),
    instances: arrival.instances.map(({ seenAt, startedAt, ...rest }) => ({
      ...rest,
      seenAt: iso(seenAt),
      startedAt: iso(startedAt),
    })),
    clients: arrival.clients.map(({ appliedAt, seenAt, ...rest }) => ({
      ...rest,
      appliedAt: isoOrNull(appliedAt),
      seenAt: iso(seenAt),
    })),
  });

export const clientRoutes = (
  app: FastifyInstance,
  { clients, arrivals }: ClientDependencies,
): void => {
  app.post<{ Body: Static<typeof Report> }>(
    "/clients",
    {
      // As often as changes come to the programs of a key, however many they are.
      config: { permission: "flags.follow", unlimited: true },
      schema: {
        tags,
        operationId: "reportClient",
        summary: "Tell what a program has applied",
        description:
          "For programs that evaluate by themselves: after the first snapshot, after changes (at most four times a second) and once a minute. Only a program with a stream, or that polls, is listed.",
        querystring: noQuery,
        body: Report,
        response: answers({ 204: { description: "Taken in." } }, ...withBody),
      },
    },
    async ({ auth, body }, reply) => {
      const { leaving = false, ...report } = body;
      const { keyId, environment } = auth.principal;
      takeReport(clients, auth.principal, report);
      if (leaving) clients.leaves({ environmentId: environment.id, keyId }, report.id);
      return reply.code(204).send();
    },
  );

  app.get<{ Querystring: Static<typeof Query> }>(
    "/clients",
    route("clients.read", {
      tags,
      operationId: "listClients",
      summary: "See which programs have a change",
      description:
        "The instances of this service and the programs that evaluate by themselves, with what they have applied. What other instances know follows within about half a second.",
      querystring: Query,
      response: answers({
        200: { description: "The programs.", schema: Answer, example },
      }),
    }),
    async (request, reply) => {
      const { auth, query } = request;
      const found = await arrivals.of(auth.principal.environment, query.revision);
      if (!found.ok) return sendFailure(reply, found.failure);
      return sendCompressed(request, reply.type(jsonType), Buffer.from(bodyOf(found.value)));
    },
  );
};
