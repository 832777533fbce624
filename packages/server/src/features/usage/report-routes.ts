// POST /usage: takes the counts of clients that evaluate locally.
import type { EvaluationContext } from "@halyard/core/context";
import { flagKeyPattern } from "@halyard/core/flags/rules";
import { type Counts, maxReportedNames } from "@halyard/core/result-counts";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import type { Clients } from "../../evaluation/clients/connected-clients.ts";
import { ReportedClient, takeReport } from "../../evaluation/clients/reported-client.ts";
import type { ContextSample } from "../../evaluation/context-sample.ts";
import type { EvaluationErrors } from "../../evaluation/usage/failed-evaluations.ts";
import { may } from "../../platform/auth/principal.ts";
import { answers, withBody } from "../../platform/http/openapi/describe.ts";
import { closedObject } from "../../platform/http/openapi/schemas.ts";
import { allowPages } from "../../platform/http/request/cors.ts";
import { offDescription, onDescription } from "./routes.ts";
import type { UsageReport } from "./usage.ts";

export interface ReportDependencies {
  readonly usage: UsageReport;
  readonly contextSample: Pick<ContextSample, "offer">;
  readonly clients: Clients;
  readonly evaluationErrors: EvaluationErrors;
}

const maxEntries = 1_000;
const maxContexts = 100;

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
const FailedEvaluations = closedObject(
  {
    FLAG_NOT_FOUND: Type.Optional(reported("Evaluations of a key that no flag has.")),
    TYPE_MISMATCH: Type.Optional(
      reported("Evaluations by a program that expects another type than the flag's."),
    ),
  },
  {
    description:
      "Evaluations that returned the program's own default value, by error. They count only while the error still holds: an error of a flag that was created since is ignored.",
  },
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
        errors: Type.Optional(FailedEvaluations),
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
          { key: "old-checkout", on: 0, off: 0, errors: { FLAG_NOT_FOUND: 12 } },
        ],
      },
    ],
  },
);

export const reportUsageRoute = (
  app: FastifyInstance,
  { usage, contextSample, clients, evaluationErrors }: ReportDependencies,
): void => {
  app.post<{ Body: Static<typeof Reported> }>(
    "/usage",
    {
      config: { permission: "usage.report", unlimited: true, ownRateLimit: true },
      schema: {
        tags: ["Flags"],
        operationId: "reportUsage",
        summary: "Report evaluations made elsewhere",
        description:
          "For clients that evaluate locally: the evaluations since their last report. For unknown flags, only `errors` counts; `GET /usage/errors` lists them. Counts are saved within a minute. An entry without `on`, `off` and `errors` counts nothing. `client` has the same effect as in `POST /api/v1/clients`. It is ignored if it is older than what the client reported there, and from keys that cannot follow the flags.",
        body: Reported,
        response: answers({ 204: { description: "Taken in." } }, ...withBody),
      },
    },
    async (request, reply) => {
      const { principal } = request.auth;
      const { environment, role } = principal;
      const { evaluations, contexts = [], client } = request.body;
      usage.add(environment, evaluations);
      const program = may(principal, "flags.follow") ? client?.name : undefined;
      for (const { key, errors } of evaluations) {
        if (errors) evaluationErrors.add(principal, key, errors, program);
      }
      for (const context of contexts) {
        contextSample.offer(environment.id, context, role === "client");
      }
      if (client) takeReport(clients, principal, client, true);
      return allowPages(reply).code(204).send();
    },
  );
};
