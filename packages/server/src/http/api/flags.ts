// /flags: list, read, create, change, delete, and the history of each.
import type { CreateFlag, Flag, FlagTypeName, PatchFlag } from "@halyard/core/flags/registry";
import { isFlagKey } from "@halyard/core/flags/rules";
import { createFlagSchema, flagTypeSchema, patchFlagSchema } from "@halyard/core/flags/schemas";
import type { FastifyInstance, FastifyReply } from "fastify";
import { type Static, Type } from "typebox";
import type { VersionedFlag } from "../../domain/change.ts";
import type { Flags } from "../../management/flags.ts";
import type { FlagList } from "../../ports.ts";
import { jsonType, sendFailure } from "../errors/error-reply.ts";
import { answers, headers, withBody } from "../openapi/describe.ts";
import {
  cursorParameter,
  flagExample,
  flagReference,
  idempotencyHeader,
  limitParameter,
  noQuery,
} from "../openapi/schemas.ts";
import { ifMatch, sendNotModified } from "../request/conditional.ts";
import { flagBody, listBody } from "./flag-bodies.ts";
import { replyIdempotently } from "./idempotent-reply.ts";
import { badCursor, decodeCursor, sendNextLink } from "./paging.ts";

const tags = ["Flags"];
const KeyPath = Type.Object({
  key: Type.String({ description: "The flag's key.", examples: ["new-checkout"] }),
});
const closed = { additionalProperties: false } as const;

const ListQuery = Type.Object(
  {
    limit: Type.Optional(limitParameter),
    cursor: Type.Optional(cursorParameter),
    type: Type.Optional(Type.Unsafe<FlagTypeName>(flagTypeSchema)),
    enabled: Type.Optional(
      Type.Boolean({
        description: "Only flags that are on, or off.",
        "x-must-be": "true or false",
      }),
    ),
    q: Type.Optional(
      Type.String({
        maxLength: 200,
        description:
          "Only flags with this text in their key or description, in small or capital letters.",
        "x-must-be": "a text of at most 200 characters",
      }),
    ),
  },
  closed,
);

const Precondition = Type.Object({
  "if-match": Type.Optional(
    Type.String({
      description:
        'Only when the flag is at this version, such as `"7"`; the ETag of its last answer.',
    }),
  ),
});
const Freshness = Type.Object({
  "if-none-match": Type.Optional(
    Type.String({ description: "An ETag from before: 304 when nothing has changed since." }),
  ),
});

const select = (list: FlagList, query: Static<typeof ListQuery>): VersionedFlag[] => {
  const text = query.q?.toLowerCase();
  return list.flags.filter(
    ({ flag }) =>
      (query.type === undefined || flag.type === query.type) &&
      (query.enabled === undefined || flag.enabled === query.enabled) &&
      (text === undefined ||
        flag.key.toLowerCase().includes(text) ||
        (flag.description?.toLowerCase().includes(text) ?? false)),
  );
};

const sendFlag = (reply: FastifyReply, flag: VersionedFlag, status = 200) =>
  reply.code(status).header("etag", `"${flag.version}"`).type(jsonType).send(flagBody(flag));

export const flagRoutes = (app: FastifyInstance, flags: Flags): void => {
  app.get<{ Querystring: Static<typeof ListQuery> }>(
    "/flags",
    {
      config: { permission: "flags.read" },
      schema: {
        tags,
        operationId: "listFlags",
        summary: "List flags",
        description:
          "All flags of the environment, sorted by key; filtered and in pages when asked to.",
        querystring: ListQuery,
        headers: Freshness,
        response: answers({
          200: {
            description: "The flags.",
            schema: Type.Array(Type.Unsafe<Flag>(flagReference)),
            example: [flagExample],
            headers: { ...headers.listTag, ...headers.next },
          },
          304: { description: "Nothing has changed.", headers: headers.listTag },
        }),
      },
    },
    async (request, reply) => {
      const { query } = request;
      const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
      if (query.cursor !== undefined && !isFlagKey(after ?? "")) {
        return sendFailure(reply, badCursor);
      }
      const list = await flags.list(request.auth.principal.environment);
      if (sendNotModified(request, reply, list.revision)) return reply;
      reply.type(jsonType);
      if (Object.keys(query).length === 0) return reply.send(listBody(list));

      const selected = select(list, query);
      const begin = after === undefined ? 0 : selected.findIndex(({ flag }) => flag.key > after);
      const rest = begin === -1 ? [] : selected.slice(begin);
      const page = rest.slice(0, query.limit);
      const last = page.at(-1);
      if (last && page.length < rest.length) sendNextLink(request, reply, last.flag.key);
      return reply.send(JSON.stringify(page.map(({ flag }) => flag)));
    },
  );

  app.get<{ Params: Static<typeof KeyPath> }>(
    "/flags/:key",
    {
      config: { permission: "flags.read" },
      schema: {
        tags,
        operationId: "getFlag",
        summary: "Read one flag",
        params: KeyPath,
        querystring: noQuery,
        headers: Freshness,
        response: answers(
          {
            200: {
              description: "The flag.",
              schema: flagReference,
              example: flagExample,
              headers: headers.flagTag,
            },
            304: { description: "It has not changed.", headers: headers.flagTag },
          },
          "NOT_FOUND",
        ),
      },
    },
    async (request, reply) => {
      const found = await flags.get(request.auth.principal.environment, request.params.key);
      if (!found.ok) return sendFailure(reply, found.failure);
      if (sendNotModified(request, reply, found.value.version)) return reply;
      return sendFlag(reply, found.value);
    },
  );

  app.post<{ Body: CreateFlag }>(
    "/flags",
    {
      config: { permission: "flags.write" },
      schema: {
        tags,
        operationId: "createFlag",
        summary: "Create a flag",
        description:
          "It is off at first, and a rollout flag reaches 0 % unless `percentage` says otherwise.",
        querystring: noQuery,
        headers: idempotencyHeader,
        body: {
          ...createFlagSchema,
          examples: [{ key: "new-checkout", type: "rollout", description: "The new checkout" }],
        },
        response: answers(
          {
            201: {
              description: "The flag as it was made.",
              schema: flagReference,
              example: { ...flagExample, enabled: false, percentage: 0 },
              headers: { ...headers.flagTag, ...headers.repeated },
            },
          },
          "CONFLICT",
          ...withBody,
        ),
      },
    },
    (request, reply) =>
      replyIdempotently(
        request,
        reply,
        (once) =>
          flags.create(
            request.auth.principal.actor,
            request.auth.principal.environment,
            request.body,
            once,
          ),
        (flag) => sendFlag(reply, flag, 201),
      ),
  );

  app.patch<{ Params: Static<typeof KeyPath>; Body: PatchFlag }>(
    "/flags/:key",
    {
      config: { permission: "flags.write" },
      schema: {
        tags,
        operationId: "updateFlag",
        summary: "Change a flag",
        description:
          "Only the fields given. A change that changes nothing makes no event and no new version.",
        params: KeyPath,
        querystring: noQuery,
        headers: Precondition,
        body: { ...patchFlagSchema, examples: [{ enabled: true, percentage: 25 }] },
        response: answers(
          {
            200: {
              description: "The flag as it is now.",
              schema: flagReference,
              example: flagExample,
              headers: headers.flagTag,
            },
          },
          "NOT_FOUND",
          "PRECONDITION_FAILED",
          ...withBody,
        ),
      },
    },
    async (request, reply) => {
      const precondition = ifMatch(request);
      if (!precondition.ok) return sendFailure(reply, precondition.failure);
      const { params, body, auth } = request;
      const patched = await flags.patch(
        auth.principal.actor,
        auth.principal.environment,
        params.key,
        body,
        precondition.value,
      );
      return patched.ok ? sendFlag(reply, patched.value) : sendFailure(reply, patched.failure);
    },
  );

  app.delete<{ Params: Static<typeof KeyPath> }>(
    "/flags/:key",
    {
      config: { permission: "flags.write" },
      schema: {
        tags,
        operationId: "deleteFlag",
        summary: "Delete a flag",
        params: KeyPath,
        querystring: noQuery,
        headers: Precondition,
        response: answers(
          { 204: { description: "It is gone." } },
          "NOT_FOUND",
          "PRECONDITION_FAILED",
          ...withBody,
        ),
      },
    },
    async (request, reply) => {
      const precondition = ifMatch(request);
      if (!precondition.ok) return sendFailure(reply, precondition.failure);
      const { params, auth } = request;
      const removed = await flags.remove(
        auth.principal.actor,
        auth.principal.environment,
        params.key,
        precondition.value,
      );
      return removed.ok ? reply.code(204).send() : sendFailure(reply, removed.failure);
    },
  );
};
