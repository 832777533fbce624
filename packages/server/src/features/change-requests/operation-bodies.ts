// The operations of a request as they come in: each body is checked as that of the request that would do it directly.

import { isFlagKey } from "@halyard/core/flags/rules";
import { createFlagSchema, patchFlagSchema } from "@halyard/core/flags/schemas";
import type { FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { fail, failureIn, invalid, ok, type Result } from "../../platform/errors.ts";
import { validationFailure } from "../../platform/http/errors/validation.ts";
import { withoutReason } from "../../platform/http/openapi/reason.ts";
import { closedObject } from "../../platform/http/openapi/schemas.ts";
import { stringEnum } from "../../platform/http/openapi/string-enum.ts";
import {
  maxOperations,
  type Operation,
  type OperationKind,
  type Planned,
} from "../../writes/operation.ts";
import { createSegmentSchema, membersSchema, patchSegmentSchema } from "../segments/schemas.ts";

const setting = (name: string) =>
  closedObject({ [name]: Type.Boolean({ "x-must-be": "true or false" }) });

/** Null for an operation without a body. */
const bodySchemas: Readonly<
  Record<OperationKind, Readonly<Partial<Record<Operation["action"], object | null>>>>
> = {
  flag: {
    create: withoutReason(createFlagSchema),
    patch: withoutReason(patchFlagSchema),
    delete: null,
  },
  segment: {
    create: withoutReason(createSegmentSchema),
    patch: withoutReason(patchSegmentSchema),
    members: withoutReason(membersSchema),
    delete: null,
  },
  key: { patch: setting("writesDirectly") },
  environment: { patch: setting("protected") },
};

const kinds = Object.keys(bodySchemas) as OperationKind[];
const actions = ["create", "patch", "members", "delete"] as const;

export const operationFields = {
  kind: stringEnum(kinds, {
    description: "What it is about.",
    "x-must-be": `one of ${kinds.join(", ")}`,
  }),
  key: Type.String({
    minLength: 1,
    maxLength: 128,
    description:
      "The key of the flag or segment, the id of the API key, or the name of the environment.",
    "x-must-be": "a key, an id or a name",
  }),
  action: stringEnum([...actions], {
    description:
      "`create`, `patch` and `delete` of flags and segments, `members` of a segment, `patch` of a key (`writesDirectly`) or of the environment (`protected`).",
    "x-must-be": `one of ${actions.join(", ")}`,
  }),
};

const OperationBody = closedObject(
  {
    ...operationFields,
    version: Type.Optional(
      Type.Unsafe<number | null>({
        type: ["integer", "null"],
        minimum: 1,
        description: "Only when the flag or segment is at this version; else the one it is at.",
        "x-must-be": "a version, or null",
      }),
    ),
    body: Type.Optional(
      Type.Unsafe<object | null>({
        type: ["object", "null"],
        description: "As of the request that would do it directly.",
        "x-must-be": "an object, or null",
      }),
    ),
  },
  { "x-must-be": "an object with kind, key, action and body" },
);

export const OperationList = Type.Array(OperationBody, {
  minItems: 1,
  maxItems: maxOperations,
  description:
    "In the order in which they are made: a flag that is created may be changed by a later one.",
  "x-must-be": `a list of 1 to ${maxOperations} operations`,
});
type OperationBody = Static<typeof OperationBody>;

const isKey = ({ kind, key }: OperationBody): boolean =>
  kind === "flag" || kind === "segment" ? isFlagKey(key) : /^[\w-]+$/.test(key);

const plan = (request: FastifyRequest, sent: OperationBody): Result<Planned> => {
  const { kind, key, action, version = null } = sent;
  const schema = bodySchemas[kind][action];
  if (schema === undefined) {
    const known = Object.keys(bodySchemas[kind]).join(", ");
    return invalid("action", `must be one of ${known} for the kind ${kind}`);
  }
  if (!isKey(sent)) return invalid("key", `must be the key of a ${kind}`);
  const body = schema === null ? null : { ...sent.body, ...(action === "create" && { key }) };
  if (schema !== null) {
    const validate = request.compileValidationSchema(schema, "body");
    if (!validate(body)) {
      const failure = validationFailure(validate.errors ?? [], "body");
      return fail(failureIn("body", failure));
    }
  }
  const precondition = version === null ? undefined : [String(version)];
  // The schema of its kind and action has just been checked.
  return ok({ operation: { kind, key, action, body } as Operation, precondition });
};

export const planOperations = (
  request: FastifyRequest,
  operations: readonly OperationBody[],
): Result<readonly Planned[]> => {
  const planned: Planned[] = [];
  for (const [index, sent] of operations.entries()) {
    const place = `operations[${index}]`;
    const each = plan(request, sent);
    if (!each.ok) return fail(failureIn(place, each.failure));
    planned.push(each.value);
  }
  return ok(planned);
};
