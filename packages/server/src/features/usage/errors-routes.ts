// /usage/errors: evaluations that fail because no flag has the key, or because the program expects another type.
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { evaluationErrorCodes } from "../../evaluation/usage/counts.ts";
import type { EvaluationErrors } from "../../evaluation/usage/failed-evaluations.ts";
import { answers, route } from "../../platform/http/openapi/describe.ts";
import { closedObject } from "../../platform/http/openapi/schemas.ts";
import { stringEnum } from "../../platform/http/openapi/string-enum.ts";
import { defaultHours, Hours, nullableChange } from "./routes.ts";

const counts = {
  count: Type.Integer({
    description: "Failed evaluations since the first one that is still kept.",
  }),
  lastEvaluatedAt: Type.String({
    description: "When the last one was counted: ISO 8601 in UTC, to the minute or so.",
  }),
};
const EvaluationError = closedObject({
  key: Type.String({ description: "The key that was evaluated." }),
  errorCode: stringEnum(evaluationErrorCodes, {
    description:
      "`FLAG_NOT_FOUND`: no flag has the key. `TYPE_MISMATCH`: the program expects another type than the flag's.",
  }),
  ...counts,
  deletion: nullableChange(
    "Who deleted the flag that had the key, and when; null if history has no such flag.",
  ),
  programs: Type.Array(
    closedObject({
      name: Type.String({
        description: "The name of the program, or of its API key if the program reports no name.",
      }),
      ...counts,
    }),
    { description: "Sorted by name." },
  ),
});

const time = "2026-11-14T12:40:02.000Z";

export const usageErrorRoutes = (
  app: FastifyInstance,
  { evaluationErrors }: { readonly evaluationErrors: EvaluationErrors },
): void => {
  app.get<{ Querystring: Static<typeof Hours> }>(
    "/usage/errors",
    route("usage.read", {
      tags: ["Flags"],
      operationId: "getUsageErrors",
      summary: "Read which evaluations fail",
      description:
        "Keys that programs evaluate but no flag has, such as the key of a deleted flag, and flags whose type is not the one that a program expects. Sorted by key. An error disappears when it no longer holds, and 30 days after its last evaluation. Each API key has up to 500 combinations of error, key and program; new ones replace those seen longest ago. The 1,000 latest are listed. What other instances counted follows within a minute.",
      querystring: Hours,
      response: answers({
        200: {
          description: "The failed evaluations.",
          schema: Type.Array(EvaluationError),
          example: [
            {
              key: "old-checkout",
              errorCode: "FLAG_NOT_FOUND",
              count: 120,
              lastEvaluatedAt: time,
              deletion: {
                at: "2026-11-13T09:12:44.000Z",
                actor: { keyId: "9f86d081884c7d65", name: "ci" },
              },
              programs: [{ name: "checkout-api", count: 120, lastEvaluatedAt: time }],
            },
          ],
        },
      }),
    }),
    ({ auth, query }) =>
      evaluationErrors.list(auth.principal.environment.id, query.hours ?? defaultHours),
  );
};
