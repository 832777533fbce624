// What others do with a change request, and what its author does without a body.
import type { FastifyInstance, FastifyReply } from "fastify";
import { type Static, Type } from "typebox";
import type { Caller, Permission } from "../../platform/auth/principal.ts";
import type { Result } from "../../platform/errors.ts";
import { sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route, withBody } from "../../platform/http/openapi/describe.ts";
import { requestExample, requestReference } from "../../platform/http/openapi/proposed.ts";
import {
  type ConfirmQuery,
  callerOf,
  confirmQuery,
  Reason,
} from "../../platform/http/openapi/reason.ts";
import {
  closedObject,
  idempotencyHeader,
  preconditionHeader,
} from "../../platform/http/openapi/schemas.ts";
import { ifMatch } from "../../platform/http/request/conditional.ts";
import { replyIdempotently } from "../../writes/idempotent-route.ts";
import type { ChangeRequests } from "./change-requests.ts";
import { CommentText, type RequestPath, requestPath, shownRequest, tags } from "./schemas.ts";

const RefuseBody = closedObject({ comment: Type.Optional(CommentText) });
const CommentBody = closedObject({ text: CommentText });
const BypassBody = closedObject({ reason: Reason });

const Seen = preconditionHeader("change request");
const notAsSeen = ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"] as const;

const send = (reply: FastifyReply, result: Result<unknown>): FastifyReply =>
  result.ok ? reply.send(result.value) : sendFailure(reply, result.failure);

export const reviewRoutes = (app: FastifyInstance, requests: ChangeRequests): void => {
  /** Without a body. */
  const step = (
    name: "withdraw" | "apply",
    permission: Permission,
    summary: string,
    description: string,
  ): void => {
    app.post<{ Params: RequestPath }>(
      `/change-requests/:id/${name}`,
      route(permission, {
        tags,
        operationId: `${name}ChangeRequest`,
        summary,
        description,
        params: requestPath,
        response: answers({ 200: shownRequest }, "NOT_FOUND", "CONFLICT", ...withBody),
      }),
      async (request, reply) =>
        send(reply, await requests[name](request.auth.principal, request.params.id)),
    );
  };

  app.post<{ Params: RequestPath }>(
    "/change-requests/:id/approve",
    route("change-requests.review", {
      tags,
      operationId: "approveChangeRequest",
      summary: "Approve a change request",
      description:
        "Applies it at once, unless its time is still to come. A person, and another one than its author. Send the `digest` of what you have seen as `If-Match`: its author may edit it meanwhile. When something has changed since it was made, nothing is applied and the answer is 409, with the keys in `details`.",
      params: requestPath,
      headers: Seen,
      response: answers({ 200: shownRequest }, ...notAsSeen, ...withBody),
    }),
    async (request, reply) => {
      const seen = ifMatch(request);
      if (!seen.ok) return sendFailure(reply, seen.failure);
      const { auth, params } = request;
      return send(reply, await requests.approve(auth.principal, params.id, seen.value));
    },
  );
  step("withdraw", "flags.write", "Withdraw a change request", "Its author. It stays readable.");
  step(
    "apply",
    "change-requests.review",
    "Apply an approved change request",
    "One whose time has come and that could not be applied yet, for example because the store was unavailable. When it cannot be applied now either, it is open again.",
  );

  app.post<{ Params: RequestPath; Querystring: ConfirmQuery }>(
    "/change-requests/:id/rebase",
    route("flags.write", {
      tags,
      operationId: "rebaseChangeRequest",
      summary: "Bring a change request up to date",
      description:
        "Its author: the same operations, on the flags and segments as they are now. Voids its approvals.",
      params: requestPath,
      querystring: confirmQuery,
      response: answers(
        {
          200: {
            description: "The change request, and what was different when it was made.",
            schema: closedObject({
              request: Type.Unsafe<unknown>(requestReference),
              difference: Type.Array(
                closedObject({
                  kind: Type.String(),
                  key: Type.String(),
                  was: Type.Unsafe<unknown>({ description: "As it was then." }),
                  is: Type.Unsafe<unknown>({ description: "As it is now." }),
                }),
              ),
            }),
            example: { request: requestExample, difference: [] },
          },
        },
        "NOT_FOUND",
        "CONFLICT",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const caller = callerOf(request.auth.principal, request.query);
      return send(reply, await requests.rebase(caller, request.params.id));
    },
  );

  app.post<{ Params: RequestPath; Body: Static<typeof RefuseBody> | undefined }>(
    "/change-requests/:id/refuse",
    route("change-requests.review", {
      tags,
      operationId: "refuseChangeRequest",
      summary: "Refuse a change request",
      description: "A person, and another one than its author. It stays readable.",
      params: requestPath,
      body: { ...RefuseBody, examples: [{ comment: "Not before the holidays." }] },
      response: answers({ 200: shownRequest }, "NOT_FOUND", "CONFLICT", ...withBody),
    }),
    async (request, reply) => {
      const { auth, params, body } = request;
      return send(reply, await requests.refuse(auth.principal, params.id, body?.comment));
    },
  );

  app.post<{ Params: RequestPath; Body: Static<typeof BypassBody> }>(
    "/change-requests/:id/bypass",
    route("environments.write", {
      tags,
      operationId: "bypassChangeRequest",
      summary: "Apply a change request without an approval",
      description:
        "An owner, who says why. It is marked in the request, in history, in events and in the audit log.",
      params: requestPath,
      headers: Seen,
      body: { ...BypassBody, examples: [{ reason: "The provider has an incident" }] },
      response: answers({ 200: shownRequest }, ...notAsSeen, ...withBody),
    }),
    async (request, reply) => {
      const seen = ifMatch(request);
      if (!seen.ok) return sendFailure(reply, seen.failure);
      const { auth, params, body } = request;
      const caller: Caller = { ...auth.principal, reason: body.reason.trim() };
      return send(reply, await requests.bypass(caller, params.id, seen.value));
    },
  );

  app.post<{ Params: RequestPath; Body: Static<typeof CommentBody> }>(
    "/change-requests/:id/comments",
    route("change-requests.review", {
      tags,
      operationId: "commentChangeRequest",
      summary: "Comment on a change request",
      description: "Up to 1,000 comments, also once it is closed.",
      params: requestPath,
      headers: idempotencyHeader,
      body: { ...CommentBody, examples: [{ text: "Looks good to me." }] },
      response: answers(
        {
          201: {
            description: "The change request with the comment.",
            schema: requestReference,
            example: requestExample,
            headers: headers.repeated,
          },
        },
        "NOT_FOUND",
        "CONFLICT",
        ...withBody,
      ),
    }),
    (request, reply) =>
      replyIdempotently(
        request,
        reply,
        (caller, once) => requests.comment(caller, request.params.id, request.body.text, once),
        (made) => reply.code(201).send(made),
      ),
  );
};
