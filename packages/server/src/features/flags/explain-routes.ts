// POST /flags/{key}/explain: why a flag gives what it gives.
import type { EvaluationContext } from "@halyard/core/context";
import type { PatchFlag } from "@halyard/core/flags/registry";
import { patchFlagSchema } from "@halyard/core/flags/schemas";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { allow } from "../../platform/auth/authenticate.ts";
import { invalid, ok, type Result } from "../../platform/errors.ts";
import { jsonType, sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, route, withBody } from "../../platform/http/openapi/describe.ts";
import { type FlagPath, flagPath, flagReference } from "../../platform/http/openapi/schemas.ts";
import { pastParameters, whenOf } from "../history/past-parameters.ts";
import type { Explain, ExplainAbout } from "./explain.ts";

interface ExplainBody {
  readonly context: EvaluationContext;
  readonly patch?: PatchFlag;
  readonly at?: string | undefined;
  readonly revision?: number | undefined;
}

const explainSchema = {
  type: "object",
  required: ["context"],
  properties: {
    context: {
      type: "object",
      description: "Who it is for, as in an evaluation.",
      "x-must-be": 'an object, such as {"targetingKey":"user-123"}',
      properties: {
        targetingKey: { type: ["string", "null"], "x-must-be": "a string" },
      },
    },
    patch: {
      ...patchFlagSchema,
      description: "The flag as it would be with these changes. Needs the role admin.",
    },
    at: {
      ...pastParameters.at,
      description:
        "The flag and all that it names as they were at this time. Needs the role admin.",
    },
    revision: {
      ...pastParameters.revision,
      description: "The same at this revision of the environment.",
    },
  },
  additionalProperties: false,
  examples: [{ context: { targetingKey: "user-123", plan: "pro" } }],
};

const aboutOf = ({ patch, at, revision }: ExplainBody): Result<ExplainAbout> => {
  const given = Object.entries({ patch, at, revision }).filter(([, value]) => value !== undefined);
  if (given.length > 1) {
    return invalid(given[1]?.[0] ?? "", "must be the only one of patch, at and revision");
  }
  const when = whenOf({ at, revision });
  return when.ok ? ok({ patch, when: when.value }) : when;
};

const result = { anyOf: [{ type: "boolean" }, { type: "string", enum: ["unknown"] }] };

const explanation = {
  type: "object",
  properties: {
    revision: { type: "integer", description: "The revision that it is about." },
    flag: flagReference,
    value: { description: "Absent with an error." },
    variant: { type: "string" },
    reason: {
      type: "string",
      enum: ["STATIC", "DISABLED", "PREREQUISITE_FAILED", "TARGETING_MATCH", "SPLIT", "DEFAULT"],
    },
    rule: { type: "string", description: "The id of the rule that decided." },
    errorCode: { type: "string" },
    errorDetails: { type: "string" },
    requires: {
      type: "array",
      description: "Each requirement with what the flag gives.",
      items: {
        type: "object",
        properties: {
          flag: { type: "string" },
          variant: { type: "string" },
          found: { description: "What the required flag gives; null when there is none." },
          met: { type: "boolean" },
        },
      },
    },
    rules: {
      type: "array",
      description:
        "Each rule with its conditions: `result` is true, false or unknown, `found` what the context has.",
      items: {
        type: "object",
        properties: {
          id: { type: "string" },
          disabled: { type: "boolean" },
          when: { type: "object", properties: { result } },
          serve: {},
          decided: { type: "boolean" },
        },
      },
    },
    bucket: {
      type: "object",
      description: "What splits go by.",
      properties: {
        by: { type: "string" },
        seed: { type: "string" },
        value: { type: ["string", "null"] },
        hash: { type: ["integer", "null"] },
        percentage: {
          type: ["number", "null"],
          description: "A rollout of at least this percentage includes the value.",
        },
      },
    },
  },
};

const example = {
  revision: 812,
  flag: {
    key: "new-checkout",
    type: "boolean",
    enabled: true,
    otherwise: "off",
    description: null,
    rules: [{ id: "pro", when: { attribute: "plan", op: "in", values: ["pro"] }, serve: "on" }],
  },
  value: true,
  variant: "on",
  reason: "TARGETING_MATCH",
  rule: "pro",
  requires: [],
  rules: [
    {
      id: "pro",
      when: { attribute: "plan", op: "in", values: ["pro"], found: "pro", result: true },
      serve: "on",
      decided: true,
    },
  ],
  bucket: {
    by: "targetingKey",
    seed: "new-checkout",
    value: "user-123",
    hash: 2_036_470_297,
    percentage: 47.416,
  },
};

export const explainRoutes = (app: FastifyInstance, explain: Explain): void => {
  app.post<{ Params: FlagPath; Body: ExplainBody }>(
    "/flags/:key/explain",
    route("flags.explain", {
      tags: ["Evaluation"],
      operationId: "explainFlag",
      summary: "Explain the value of a flag",
      description:
        "Every step of the decision for a context: requirements, rules with their conditions, and the bucket. Not counted in the flag's usage.",
      params: flagPath,
      body: explainSchema,
      response: answers(
        {
          200: {
            description: "The value, and how it came about.",
            schema: Type.Unsafe<unknown>(explanation),
            example,
          },
        },
        "NOT_FOUND",
        "CONFLICT",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const { params, body, auth } = request;
      const about = aboutOf(body);
      if (!about.ok) return sendFailure(reply, about.failure);
      // What would be, and what was, is for those who may change it.
      const { patch, when } = about.value;
      const allowed = patch || when ? allow(auth, "flags.write") : ok(auth);
      if (!allowed.ok) return sendFailure(reply, allowed.failure);
      const { environment } = auth.principal;
      const explained = await explain(environment, params.key, body.context, about.value);
      if (!explained.ok) return sendFailure(reply, explained.failure);
      const { revision, flag, decision, ...steps } = explained.value;
      return reply.type(jsonType).send(JSON.stringify({ revision, flag, ...decision, ...steps }));
    },
  );
};
