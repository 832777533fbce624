// POST /changes: changes of several flags, all of them or none.
import type { PatchFlag } from "@halyard/core/flags/registry";
import { isFlagKey } from "@halyard/core/flags/rules";
import { patchFlagSchema } from "@halyard/core/flags/schemas";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { type Failure, failureIn, invalid, ok, type Result } from "../../platform/errors.ts";
import { jsonType, sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route, withBody } from "../../platform/http/openapi/describe.ts";
import { proposed } from "../../platform/http/openapi/proposed.ts";
import {
  type ChangeQuery,
  callerOf,
  changeQuery,
  withoutReason,
} from "../../platform/http/openapi/reason.ts";
import {
  closedObject,
  flagExample,
  flagReference,
  idempotencyHeader,
} from "../../platform/http/openapi/schemas.ts";
import { replyIdempotently } from "../../writes/idempotent-route.ts";
import type { RefusedOperation } from "../../writes/operations.ts";
import type { FlagPatch, Flags } from "./flags.ts";

interface OneChange {
  readonly flag: string;
  readonly ifMatch?: string;
  readonly patch: PatchFlag;
}

const maxChanges = 100;

const changesSchema = withoutReason({
  type: "object",
  required: ["changes"],
  properties: {
    changes: {
      type: "array",
      minItems: 1,
      maxItems: maxChanges,
      description: "In the order in which they are made. Each names another flag.",
      "x-must-be": `a list of 1 to ${maxChanges} changes`,
      items: withoutReason({
        type: "object",
        required: ["flag", "patch"],
        properties: {
          flag: {
            type: "string",
            description: "The key of the flag.",
            "x-must-be": "the key of a flag",
          },
          ifMatch: {
            type: "string",
            pattern: "^[0-9]{1,15}$",
            description: "Only when the flag is at this version.",
            "x-must-be": 'a version, such as "7"',
          },
          patch: withoutReason(patchFlagSchema),
        },
        additionalProperties: false,
        "x-must-be": "an object with flag and patch",
      }),
    },
  },
  additionalProperties: false,
  examples: [{ changes: [{ flag: "new-checkout", ifMatch: "7", patch: { enabled: true } }] }],
});

const patchesOf = (changes: readonly OneChange[]): Result<readonly FlagPatch[]> => {
  const seen = new Set<string>();
  for (const [index, { flag }] of changes.entries()) {
    const place = `changes[${index}].flag`;
    if (!isFlagKey(flag)) return invalid(place, "must be the key of a flag");
    if (seen.has(flag)) return invalid(place, "must be named once");
    seen.add(flag);
  }
  return ok(
    changes.map(({ flag, ifMatch, patch }) => ({
      key: flag,
      patch,
      precondition: ifMatch === undefined ? undefined : [ifMatch],
    })),
  );
};

/** Says which of the changes was refused. */
const failureOf = (
  { index, failure }: RefusedOperation,
  changes: readonly OneChange[],
): Failure => {
  const at = `changes[${index}]`;
  if (failure.details === undefined) {
    return { ...failure, message: `${at} (${changes[index]?.flag}): ${failure.message}` };
  }
  return failureIn(`${at}.patch`, failure);
};

export const changeRoutes = (app: FastifyInstance, flags: Flags): void => {
  app.post<{ Body: { readonly changes: readonly OneChange[] }; Querystring: ChangeQuery }>(
    "/changes",
    route("flags.write", {
      tags: ["Flags"],
      operationId: "changeFlags",
      summary: "Change several flags together",
      description:
        "At most 100, all of them or none, in one transaction. Each makes its own revision and events, in the order given.",
      querystring: changeQuery,
      headers: idempotencyHeader,
      body: changesSchema,
      response: answers(
        {
          200: {
            description: "The flags as they are now, in the order given.",
            schema: closedObject({
              changes: Type.Array(
                closedObject({
                  flag: Type.Unsafe<unknown>(flagReference),
                  version: Type.Integer(),
                }),
              ),
            }),
            example: { changes: [{ flag: flagExample, version: 8 }] },
            headers: headers.repeated,
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
      const { changes } = request.body;
      const patches = patchesOf(changes);
      if (!patches.ok) return sendFailure(reply, patches.failure);
      return replyIdempotently(
        request,
        reply,
        (caller, once) =>
          flags.patchAll(
            callerOf(caller, request.query),
            patches.value,
            (refused) => failureOf(refused, changes),
            once,
          ),
        (done) => {
          const body = { changes: done.map(({ flag, version }) => ({ flag, version })) };
          return reply.type(jsonType).send(JSON.stringify(body));
        },
      );
    },
  );
};
