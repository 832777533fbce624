// POST /preview, /flags/{key}/preview and /segments/{key}/preview: whom a change would hit.
import type { PatchFlag } from "@halyard/core/flags/registry";
import { isFlagKey } from "@halyard/core/flags/rules";
import { patchFlagSchema } from "@halyard/core/flags/schemas";
import type { MembersRequest } from "@halyard/core/targeting/check-segment";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { type Failure, failureIn, invalidField, missing } from "../../platform/errors.ts";
import { sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, type Described, route, withBody } from "../../platform/http/openapi/describe.ts";
import { withoutReason } from "../../platform/http/openapi/reason.ts";
import { closedObject, type FlagPath, flagPath } from "../../platform/http/openapi/schemas.ts";
import { failureAt } from "../../writes/changes.ts";
import type { Operation, Planned } from "../../writes/operation.ts";
import type { RefusedOperation } from "../../writes/operations.ts";
import { OperationList, planOperations } from "../change-requests/operation-bodies.ts";
import type { PatchSegment } from "../segments/rules.ts";
import {
  membersSchema,
  patchSegmentSchema,
  type SegmentPath,
  segmentPath,
} from "../segments/schemas.ts";
import type { Previews } from "./previews.ts";
import { previewExample } from "./schemas.ts";

const shown: Described = {
  description: "Whom the change would hit.",
  schema: { $ref: "Preview#" },
  example: previewExample,
};

const PreviewQuery = closedObject({
  rounded: Type.Optional(
    Type.Boolean({
      description:
        "`true` rounds the counts, as they always are for roles below admin. For programs that pass a preview on.",
    }),
  ),
});

const codes = ["NOT_FOUND", "CONFLICT", ...withBody] as const;
const nothingIsWritten =
  "Tries it out on the contexts that flags were evaluated for lately, one for each targeting key, and counts those that would get another value. Nothing is written. A change that would be refused is refused with the same error.";

const flagBody = {
  type: "object",
  required: ["patch"],
  properties: { patch: withoutReason(patchFlagSchema) },
  additionalProperties: false,
  "x-must-be": "an object with patch",
  examples: [{ patch: { percentage: 50 } }],
};

const segmentBody = {
  type: "object",
  properties: { patch: withoutReason(patchSegmentSchema), members: withoutReason(membersSchema) },
  additionalProperties: false,
  "x-must-be": "an object with patch or members",
  examples: [{ members: { include: { add: ["user-7"] } } }],
};
interface SegmentBody {
  readonly patch?: PatchSegment;
  readonly members?: MembersRequest;
}

const OperationsBody = closedObject({ operations: OperationList });

/** A single operation: says where in the body the mistake is. */
const refusedIn =
  (place: string) =>
  ({ failure }: RefusedOperation) =>
    failureIn(place, failure);

export const previewRoutes = (app: FastifyInstance, previews: Previews): void => {
  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    planned: readonly Planned[],
    describe: (refused: RefusedOperation) => Failure,
  ): Promise<FastifyReply> => {
    const { rounded } = request.query as Static<typeof PreviewQuery>;
    const preview = await previews(request.auth.principal, planned, { describe, rounded });
    return preview.ok ? reply.send(preview.value) : sendFailure(reply, preview.failure);
  };
  const plan = (operation: Operation): readonly Planned[] => [
    { operation, precondition: undefined },
  ];

  app.post<{ Params: FlagPath; Body: { readonly patch: PatchFlag } }>(
    "/flags/:key/preview",
    route("flags.preview", {
      tags: ["Flags"],
      operationId: "previewFlag",
      summary: "Preview a change of a flag",
      description: nothingIsWritten,
      params: flagPath,
      querystring: PreviewQuery,
      body: flagBody,
      response: answers({ 200: shown }, ...codes),
    }),
    async (request, reply) => {
      const { key } = request.params;
      if (!isFlagKey(key)) return sendFailure(reply, missing("The flag", key));
      const { patch: body } = request.body;
      const planned = plan({ kind: "flag", key, action: "patch", body });
      return send(request, reply, planned, refusedIn("patch"));
    },
  );

  app.post<{ Params: SegmentPath; Body: SegmentBody }>(
    "/segments/:key/preview",
    route("flags.preview", {
      tags: ["Segments"],
      operationId: "previewSegment",
      summary: "Preview a change of a segment",
      description: `${nothingIsWritten} All flags that the segment touches are looked at. Send \`patch\` or \`members\`.`,
      params: segmentPath,
      querystring: PreviewQuery,
      body: segmentBody,
      response: answers({ 200: shown }, ...codes),
    }),
    async (request, reply) => {
      const { key } = request.params;
      if (!isFlagKey(key)) return sendFailure(reply, missing("The segment", key));
      const { patch, members } = request.body;
      if ((patch === undefined) === (members === undefined)) {
        return sendFailure(reply, invalidField("patch", "or members must be given, one of them"));
      }
      return patch
        ? send(
            request,
            reply,
            plan({ kind: "segment", key, action: "patch", body: patch }),
            refusedIn("patch"),
          )
        : send(
            request,
            reply,
            plan({ kind: "segment", key, action: "members", body: members ?? {} }),
            refusedIn("members"),
          );
    },
  );

  app.post<{ Body: Static<typeof OperationsBody> }>(
    "/preview",
    route("flags.preview", {
      tags: ["Flags"],
      operationId: "previewOperations",
      summary: "Preview several changes together",
      description: `${nothingIsWritten} The operations are those of \`POST /change-requests\`, on flags and segments.`,
      querystring: PreviewQuery,
      body: {
        ...OperationsBody,
        examples: [
          {
            operations: [
              { kind: "flag", key: "new-checkout", action: "patch", body: { percentage: 50 } },
            ],
          },
        ],
      },
      response: answers({ 200: shown }, "PRECONDITION_FAILED", ...codes),
    }),
    async (request, reply) => {
      const { operations } = request.body;
      const other = operations.findIndex(({ kind }) => kind !== "flag" && kind !== "segment");
      if (other >= 0) {
        return sendFailure(
          reply,
          invalidField(`operations[${other}].kind`, "must be flag or segment"),
        );
      }
      const planned = planOperations(request, operations);
      return planned.ok
        ? send(request, reply, planned.value, failureAt)
        : sendFailure(reply, planned.failure);
    },
  );
};
