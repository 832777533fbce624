// /change-requests: propose, show, edit, rebase and withdraw.

import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { invalid, ok, type Result } from "../../platform/errors.ts";
import { jsonType, sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route, withBody } from "../../platform/http/openapi/describe.ts";
import { momentRule, readMoment } from "../../platform/http/openapi/moment.ts";
import {
  requestExample,
  requestReference,
  summaryExample,
} from "../../platform/http/openapi/proposed.ts";
import {
  type ConfirmQuery,
  callerOf,
  confirmQuery,
  Reason,
} from "../../platform/http/openapi/reason.ts";
import {
  closedObject,
  idempotencyHeader,
  nullable,
  pageParameters,
} from "../../platform/http/openapi/schemas.ts";
import { stringEnum } from "../../platform/http/openapi/string-enum.ts";
import { badCursor, decodeCursor } from "../../platform/http/paging.ts";
import { replyIdempotently } from "../../writes/idempotent-route.ts";
import { type RequestQuery, type RequestState, requestStates } from "./change-request.ts";
import type { ChangeRequests } from "./change-requests.ts";
import { OperationList, planOperations } from "./operation-bodies.ts";
import { reviewRoutes } from "./review-routes.ts";
import { type RequestPath, RequestSummary, requestPath, shownRequest, tags } from "./schemas.ts";

const defaultLimit = 50;
const maxLimit = 100;
const ListQuery = closedObject({
  state: Type.Optional(
    stringEnum([...requestStates], {
      description: "Only those in this state.",
      "x-must-be": `one of ${requestStates.join(", ")}`,
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxLimit,
      description: "At most so many.",
      "x-must-be": `a whole number from 1 to ${maxLimit}`,
    }),
  ),
  cursor: Type.Optional({
    ...pageParameters.cursor,
    description: "Where the page begins: `next` of the page before.",
    "x-must-be": "`next` of the page before",
  } as typeof pageParameters.cursor),
});

const applyAt = Type.Unsafe<string | null>({
  ...nullable(
    "string",
    "When it is to be applied once it is approved, at most a year ahead; null for at once.",
  ),
  maxLength: 40,
  "x-must-be": `${momentRule}, or null`,
});
const fields = {
  operations: OperationList,
  reason: Type.Optional(Reason),
  applyAt: Type.Optional(applyAt),
};
const CreateBody = closedObject(fields);
const EditBody = closedObject({
  ...fields,
  operations: Type.Optional(OperationList),
});

const bodyExample = {
  operations: [
    { kind: "flag", key: "new-checkout", action: "patch", body: { percentage: 50 }, version: 7 },
  ],
  reason: "The load test went well",
};

const cursorOf = ({ createdAt, id }: { createdAt: Date; id: string }): string =>
  Buffer.from(`${createdAt.getTime()}-${id}`).toString("base64url");
const readCursor = (cursor: string): RequestQuery["before"] => {
  const [, at, id] = /^(\d{1,15})-(cr_\w{1,40})$/.exec(decodeCursor(cursor)) ?? [];
  return at === undefined || id === undefined ? undefined : { at: new Date(Number(at)), id };
};

const timeOf = (text: string | null): Result<Date | null> => {
  const time = text === null ? null : readMoment(text);
  return time === undefined ? invalid("applyAt", `must be ${momentRule}, or null`) : ok(time);
};

export const changeRequestRoutes = (app: FastifyInstance, requests: ChangeRequests): void => {
  app.get<{ Querystring: Static<typeof ListQuery> }>(
    "/change-requests",
    route("change-requests.read", {
      tags,
      operationId: "listChangeRequests",
      summary: "List change requests",
      description: "Newest first, without the bodies of their operations and without comments.",
      querystring: ListQuery,
      response: answers({
        200: {
          description: "A page of them; `next` is the cursor of the one after it, or null.",
          schema: closedObject({
            requests: Type.Array(RequestSummary),
            next: nullable<string>("string", "Null on the last page."),
          }),
          example: { requests: [summaryExample], next: null },
        },
      }),
    }),
    async (request, reply) => {
      const { state, limit = defaultLimit, cursor } = request.query;
      const before = cursor === undefined ? undefined : readCursor(cursor);
      if (cursor !== undefined && before === undefined) return sendFailure(reply, badCursor);
      const found = await requests.list(request.auth.principal.environment, {
        limit: limit + 1,
        ...(state !== undefined && { states: [state as RequestState] }),
        ...(before && { before }),
      });
      const page = found.slice(0, limit);
      const last = page.at(-1);
      const next = last && found.length > limit ? cursorOf(last) : null;
      return reply.type(jsonType).send(JSON.stringify({ requests: page, next }));
    },
  );

  app.get<{ Params: RequestPath }>(
    "/change-requests/:id",
    route("change-requests.read", {
      tags,
      operationId: "getChangeRequest",
      summary: "Read one change request",
      params: requestPath,
      response: answers({ 200: shownRequest }, "NOT_FOUND"),
    }),
    async (request, reply) => {
      const { params, auth } = request;
      const found = await requests.get(auth.principal.environment, params.id);
      return found.ok ? reply.send(found.value) : sendFailure(reply, found.failure);
    },
  );

  app.post<{ Body: Static<typeof CreateBody>; Querystring: ConfirmQuery }>(
    "/change-requests",
    route("flags.write", {
      tags,
      operationId: "createChangeRequest",
      summary: "Propose changes",
      description:
        "Up to 100 operations that are applied together, in one transaction, when another person approves them. Also where the environment does not ask for that. Each is tried out first: what would be refused is refused now.",
      querystring: confirmQuery,
      headers: idempotencyHeader,
      body: { ...CreateBody, examples: [bodyExample] },
      response: answers(
        {
          201: {
            description: "The change request.",
            schema: requestReference,
            example: requestExample,
            headers: headers.repeated,
          },
        },
        "NOT_FOUND",
        "CONFLICT",
        "PRECONDITION_FAILED",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const { operations, reason, applyAt = null } = request.body;
      const planned = planOperations(request, operations);
      const time = timeOf(applyAt);
      if (!planned.ok) return sendFailure(reply, planned.failure);
      if (!time.ok) return sendFailure(reply, time.failure);
      const draft = { operations: planned.value, reason: reason?.trim(), applyAt: time.value };
      return replyIdempotently(
        request,
        reply,
        (caller, once) => requests.create(callerOf(caller, request.query), draft, once),
        (made) =>
          reply.code(201).header("location", `/api/v1/change-requests/${made.id}`).send(made),
      );
    },
  );

  app.patch<{ Params: RequestPath; Body: Static<typeof EditBody>; Querystring: ConfirmQuery }>(
    "/change-requests/:id",
    route("flags.write", {
      tags,
      operationId: "updateChangeRequest",
      summary: "Edit a change request",
      description:
        "Its author, only the fields given. What others have approved is void: it needs a new approval.",
      params: requestPath,
      querystring: confirmQuery,
      body: { ...EditBody, examples: [bodyExample] },
      response: answers(
        { 200: shownRequest },
        "NOT_FOUND",
        "CONFLICT",
        "PRECONDITION_FAILED",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const { operations, reason, applyAt } = request.body;
      const planned = operations && planOperations(request, operations);
      const time = applyAt === undefined ? undefined : timeOf(applyAt);
      const wrong = [planned, time].find((each) => each && !each.ok);
      if (wrong && !wrong.ok) return sendFailure(reply, wrong.failure);
      const caller = callerOf(request.auth.principal, request.query);
      const edited = await requests.edit(caller, request.params.id, {
        ...(planned?.ok && { operations: planned.value }),
        ...(reason !== undefined && { reason: reason.trim() }),
        ...(time?.ok && { applyAt: time.value }),
      });
      return edited.ok ? reply.send(edited.value) : sendFailure(reply, edited.failure);
    },
  );

  reviewRoutes(app, requests);
};
