// POST /flags, PATCH and DELETE /flags/{key}.
import type { CreateFlag, PatchFlag } from "@halyard/core/flags/registry";
import { createFlagSchema, patchFlagSchema } from "@halyard/core/flags/schemas";
import type { FastifyInstance } from "fastify";
import { sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route, withBody } from "../../platform/http/openapi/describe.ts";
import { proposed } from "../../platform/http/openapi/proposed.ts";
import {
  type ChangeQuery,
  callerOf,
  changeQuery,
  withoutReason,
} from "../../platform/http/openapi/reason.ts";
import {
  type FlagPath,
  flagExample,
  flagPath,
  flagReference,
  idempotencyHeader,
  preconditionHeader,
} from "../../platform/http/openapi/schemas.ts";
import { ifMatch } from "../../platform/http/request/conditional.ts";
import { replyIdempotently } from "../../writes/idempotent-route.ts";
import { sendFlag } from "./bodies.ts";
import type { Flags } from "./flags.ts";

const tags = ["Flags"];

const Precondition = preconditionHeader("flag");

export const flagRoutes = (app: FastifyInstance, flags: Flags): void => {
  app.post<{ Body: CreateFlag; Querystring: ChangeQuery }>(
    "/flags",
    route("flags.write", {
      tags,
      operationId: "createFlag",
      summary: "Create a flag",
      description:
        "It is off at first, and a rollout flag reaches 0% unless `percentage` says otherwise.",
      querystring: changeQuery,
      headers: idempotencyHeader,
      body: {
        ...withoutReason(createFlagSchema),
        examples: [
          { key: "new-checkout", type: "rollout", description: "The new checkout" },
          {
            key: "button-size",
            type: "variant",
            valueType: "string",
            variants: { small: "S", large: "L" },
            off: "small",
            otherwise: [
              { variant: "small", share: 50 },
              { variant: "large", share: 50 },
            ],
          },
        ],
      },
      response: answers(
        {
          201: {
            description: "The flag as it was made.",
            schema: flagReference,
            example: { ...flagExample, enabled: false, percentage: 0 },
            headers: { ...headers.flagTag, ...headers.repeated },
          },
          ...proposed,
        },
        "CONFLICT",
        ...withBody,
      ),
    }),
    (request, reply) =>
      replyIdempotently(
        request,
        reply,
        (caller, once) => flags.create(callerOf(caller, request.query), request.body, once),
        (flag) => sendFlag(reply, flag, 201),
      ),
  );

  app.patch<{ Params: FlagPath; Body: PatchFlag; Querystring: ChangeQuery }>(
    "/flags/:key",
    route("flags.write", {
      tags,
      operationId: "updateFlag",
      summary: "Change a flag",
      description:
        "Only the fields given. A change that changes nothing makes no event and no new version.",
      params: flagPath,
      querystring: changeQuery,
      headers: Precondition,
      body: {
        ...withoutReason(patchFlagSchema),
        examples: [
          { enabled: true, percentage: 25 },
          {
            otherwise: "off",
            rules: [
              {
                id: "staff",
                when: { attribute: "email", op: "endsWith", values: ["@acme.com"] },
                serve: "on",
              },
            ],
          },
        ],
      },
      response: answers(
        {
          200: {
            description: "The flag as it is now.",
            schema: flagReference,
            example: flagExample,
            headers: headers.flagTag,
          },
          ...proposed,
        },
        "NOT_FOUND",
        "CONFLICT",
        "PRECONDITION_FAILED",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const precondition = ifMatch(request);
      if (!precondition.ok) return sendFailure(reply, precondition.failure);
      const { params, body, auth, query } = request;
      const caller = callerOf(auth.principal, query);
      const patched = await flags.patch(caller, params.key, body, precondition.value);
      return patched.ok ? sendFlag(reply, patched.value) : sendFailure(reply, patched.failure);
    },
  );

  app.delete<{ Params: FlagPath; Querystring: ChangeQuery }>(
    "/flags/:key",
    route("flags.write", {
      tags,
      operationId: "deleteFlag",
      summary: "Delete a flag",
      description: "Not while another flag requires it: the answer lists the flags.",
      params: flagPath,
      querystring: changeQuery,
      headers: Precondition,
      response: answers(
        { 204: { description: "It is gone." }, ...proposed },
        "NOT_FOUND",
        "CONFLICT",
        "PRECONDITION_FAILED",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const precondition = ifMatch(request);
      if (!precondition.ok) return sendFailure(reply, precondition.failure);
      const { params, auth, query } = request;
      const caller = callerOf(auth.principal, query);
      const removed = await flags.remove(caller, params.key, precondition.value);
      return removed.ok ? reply.code(204).send() : sendFailure(reply, removed.failure);
    },
  );
};
