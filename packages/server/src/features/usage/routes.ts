// GET /usage and /flags/:key/usage: how often flags are evaluated.
import type { Counts } from "@halyard/core/result-counts";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import type { LastChange } from "../../evaluation/usage/counts.ts";
import { jsonType, sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, route } from "../../platform/http/openapi/describe.ts";
import { Actor, closedObject, nullable } from "../../platform/http/openapi/schemas.ts";
import { sendCompressed } from "../../platform/http/request/compressed.ts";
import type { UsageReport } from "./usage.ts";

const tags = ["Flags"];
export const defaultHours = 24;

const KeyPath = Type.Object({ key: Type.String({ description: "The flag's key." }) });
export const Hours = closedObject({
  hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2_160,
      description: "How many hours back, including the current one; 24 by default.",
      "x-must-be": "a whole number from 1 to 2160",
    }),
  ),
});

export const onDescription =
  "Evaluations that gave true, or another variant than the flag's off variant.";
export const offDescription = "Evaluations that gave false, or the flag's off variant.";
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
const changeBy = closedObject({
  at: Type.String({ description: "ISO 8601 in UTC." }),
  actor: Actor,
});
export const nullableChange = (description: string) =>
  Type.Unsafe<LastChange | null>({ anyOf: [changeBy, { type: "null" }], description });
const lastTimes = {
  lastEvaluatedAt,
  lastAskedTogetherAt: nullable<string>(
    "string",
    "The last bulk evaluation since the flag exists; null when there was none within 90 days.",
  ),
  lastChange: nullableChange(
    "Who changed the flag last, and when; null when history has no change of it.",
  ),
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
  { usage }: { readonly usage: UsageReport },
): void => {
  app.get<{ Querystring: Static<typeof Hours> }>(
    "/usage",
    route(
      "usage.read",
      {
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
      },
      { large: "always" },
    ),
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
