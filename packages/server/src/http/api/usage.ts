// /usage and /flags/:key/usage: how often flags are evaluated.

import type { EvaluationContext } from "@halyard/core/context";
import { flagKeyPattern } from "@halyard/core/flags/rules";
import { type Counts, maxReportedNames } from "@halyard/core/result-counts";
import type { FastifyInstance } from "fastify";
import type { LastChange } from "../../domain/usage.ts";
import type { Clients } from "../../evaluation/clients.ts";
import type { ContextSample } from "../../evaluation/context-sample.ts";
import type { UsageReport } from "../../evaluation/usage-report.ts";
import { jsonType, sendFailure } from "../errors/error-reply.ts";
import { answers, route, withBody } from "../openapi/describe.ts";
import { Actor, closedObject, nullable } from "../openapi/schemas.ts";
import { type Static, Type } from "../openapi/type.ts";
import { sendCompressed } from "../request/compressed.ts";
import { allowPages } from "../request/cors.ts";
import { ReportedClient, takeReport } from "./reported-client.ts";

export interface UsageDependencies {
  readonly usage: UsageReport;
  readonly contextSample: Pick<ContextSample, "offer">;
  readonly clients: Clients;
}

const tags = ["Flags"];
const defaultHours = 24;
const maxEntries = 1_000;
const maxContexts = 100;

const KeyPath = Type.Object({ key: Type.String({ description: "The flag's key." }) });
const Hours = closedObject({
  hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2_160,
      description: "How many hours back, including the current one; 24 by default.",
      "x-must-be": "a whole number from 1 to 2160",
    }),
  ),
});

const onDescription = "Evaluations that gave true, or another variant than the flag's off variant.";
const offDescription = "Evaluations that gave false, or the flag's off variant.";
const reported = (description: string) =>
  Type.Integer({
    minimum: 0,
    maximum: 1e9,
    description,
    "x-must-be": "a whole number from 0 to 1000000000",
  });
const namesRule = `an object of at most ${maxReportedNames} names with their counts`;
const reportedByName = (description: string) =>
  Type.Optional(
    Type.Unsafe<Counts>({
      type: "object",
      maxProperties: maxReportedNames,
      propertyNames: { pattern: flagKeyPattern, "x-must-be": namesRule },
      additionalProperties: reported("How often."),
      description,
      "x-must-be": namesRule,
    }),
  );
const Reported = closedObject(
  {
    evaluations: Type.Array(
      closedObject({
        key: Type.String({ maxLength: 128, "x-must-be": "the key of a flag" }),
        on: reported(onDescription),
        off: reported(offDescription),
        variants: reportedByName(
          "Evaluations by variant, for a flag with variants or rules. Names that the flag does not have are ignored.",
        ),
        rules: reportedByName(
          "Evaluations by the id of the rule that decided. Names that the flag does not have are ignored.",
        ),
      }),
      { minItems: 1, maxItems: maxEntries, "x-must-be": `a list of 1 to ${maxEntries} entries` },
    ),
    contexts: Type.Optional(
      Type.Array(
        Type.Unsafe<EvaluationContext>({
          type: "object",
          description: "As in an evaluation.",
          "x-must-be": 'a context, such as {"targetingKey": "user-123"}',
        }),
        {
          maxItems: maxContexts,
          description:
            "Some of the contexts that were evaluated, which previews count with. Kept in memory for one to two hours, and nowhere else.",
          "x-must-be": `a list of at most ${maxContexts} contexts`,
        },
      ),
    ),
    client: Type.Optional(ReportedClient),
  },
  {
    examples: [
      {
        evaluations: [
          { key: "new-checkout", on: 120, off: 3 },
          {
            key: "button-size",
            on: 40,
            off: 2,
            variants: { large: 40, small: 2 },
            rules: { staff: 4 },
          },
        ],
      },
    ],
  },
);

const counts = {
  on: Type.Integer({ description: onDescription }),
  off: Type.Integer({ description: offDescription }),
};
const countsByName = (description: string) =>
  Type.Optional(
    Type.Unsafe<Counts>({
      type: "object",
      additionalProperties: { type: "integer" },
      description,
    }),
  );
const results = {
  variants: countsByName("Evaluations by variant; only of a flag that had variants or rules."),
  rules: countsByName("Evaluations by the id of the rule that decided, if any did."),
};
const lastEvaluatedAt = nullable<string>(
  "string",
  "ISO 8601 in UTC, to the minute or so; null when it was not within 90 days.",
);
const lastTimes = {
  lastEvaluatedAt,
  lastAskedTogetherAt: nullable<string>(
    "string",
    "The last bulk evaluation since the flag exists; null when there was none within 90 days.",
  ),
  lastChange: Type.Unsafe<LastChange | null>({
    anyOf: [
      closedObject({ at: Type.String({ description: "ISO 8601 in UTC." }), actor: Actor }),
      { type: "null" },
    ],
    description: "Who changed the flag last, and when; null when history has no change of it.",
  }),
};
const FlagUsage = closedObject({
  key: Type.String(),
  ...counts,
  ...lastTimes,
  stale: Type.Boolean({
    description: "Neither evaluated, nor asked for with all others, nor changed in 30 days.",
  }),
  ...results,
});
const HourlyUsage = closedObject({
  key: Type.String(),
  ...lastTimes,
  hours: Type.Array(
    closedObject({
      hour: Type.String({ description: "When it began, ISO 8601 in UTC." }),
      ...counts,
      together: Type.Integer({
        description:
          "Bulk evaluations: requests for all flags, from the first full hour after the flag's creation.",
      }),
      ...results,
    }),
    { description: "Oldest first; hours without evaluations are left out." },
  ),
});

const time = "2026-11-14T12:40:02.000Z";
const count = { on: 120, off: 3 };
const lastChange = { at: time, actor: { keyId: "9f86d081884c7d65", name: "ci" } };

export const usageRoutes = (
  app: FastifyInstance,
  { usage, contextSample, clients }: UsageDependencies,
): void => {
  app.post<{ Body: Static<typeof Reported> }>(
    "/usage",
    {
      config: { permission: "usage.report", unlimited: true, countedAlone: true },
      schema: {
        tags,
        operationId: "reportUsage",
        summary: "Report evaluations made elsewhere",
        description:
          "For clients that evaluate by themselves: how often since their last report. Unknown flags are ignored. Counts are saved within a minute. An entry with neither `on` nor `off` counts nothing. `client` is taken as `POST /api/v1/clients` takes it, unless it is older than what the client told there, and ignored from keys that cannot follow the flags.",
        body: Reported,
        response: answers({ 204: { description: "Taken in." } }, ...withBody),
      },
    },
    async (request, reply) => {
      const { principal } = request.auth;
      const { environment, role } = principal;
      const { evaluations, contexts = [], client } = request.body;
      usage.add(environment, evaluations);
      for (const context of contexts) {
        contextSample.offer(environment.id, context, role === "client");
      }
      if (client) takeReport(clients, principal, client, true);
      return allowPages(reply).code(204).send();
    },
  );

  app.get<{ Querystring: Static<typeof Hours> }>(
    "/usage",
    route("usage.read", {
      tags,
      operationId: "getUsage",
      summary: "Read how often each flag is evaluated",
      description:
        "Every flag of the environment, sorted by key. What this server counted is in it; what other instances counted follows within a minute.",
      querystring: Hours,
      response: answers({
        200: {
          description: "The evaluations.",
          schema: Type.Array(FlagUsage),
          example: [
            {
              key: "new-checkout",
              ...count,
              lastEvaluatedAt: time,
              lastAskedTogetherAt: null,
              lastChange,
              stale: false,
            },
            {
              key: "old-banner",
              on: 0,
              off: 0,
              lastEvaluatedAt: null,
              lastAskedTogetherAt: null,
              lastChange: null,
              stale: true,
            },
          ],
        },
      }),
    }),
    async (request, reply) => {
      const { auth, query } = request;
      const flags = await usage.ofAll(auth.principal.environment, query.hours ?? defaultHours);
      return sendCompressed(request, reply.type(jsonType), Buffer.from(JSON.stringify(flags)));
    },
  );

  app.get<{ Params: Static<typeof KeyPath>; Querystring: Static<typeof Hours> }>(
    "/flags/:key/usage",
    route("usage.read", {
      tags,
      operationId: "getFlagUsage",
      summary: "Read how often a flag is evaluated",
      description: "By the hour. What other instances counted follows within a minute.",
      params: KeyPath,
      querystring: Hours,
      response: answers(
        {
          200: {
            description: "The evaluations.",
            schema: HourlyUsage,
            example: {
              key: "new-checkout",
              lastEvaluatedAt: time,
              lastAskedTogetherAt: time,
              lastChange,
              hours: [
                {
                  hour: "2026-11-14T12:00:00.000Z",
                  ...count,
                  together: 40,
                  variants: { off: 3, on: 120 },
                  rules: { staff: 12 },
                },
              ],
            },
          },
        },
        "NOT_FOUND",
      ),
    }),
    async ({ auth, params, query }, reply) => {
      const found = await usage.ofFlag(
        auth.principal.environment,
        params.key,
        query.hours ?? defaultHours,
      );
      return found.ok ? found.value : sendFailure(reply, found.failure);
    },
  );
};
