// GET /flags and GET /flags/{key}: the last committed state, or as it was.
import type { Flag, FlagTypeName } from "@halyard/core/flags/registry";
import { isFlagKey } from "@halyard/core/flags/rules";
import { flagTypeSchema } from "@halyard/core/flags/schemas";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import type { FlagReads } from "../../evaluation/flag-reads.ts";
import type { Result } from "../../platform/errors.ts";
import { jsonType, sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route } from "../../platform/http/openapi/describe.ts";
import {
  closedObject,
  type FlagPath,
  flagExample,
  flagPath,
  flagReference,
  freshnessHeader,
  pageParameters,
} from "../../platform/http/openapi/schemas.ts";
import { badCursor, cursorFor, decodeCursor, sendNextLink } from "../../platform/http/paging.ts";
import { sendNotModified } from "../../platform/http/request/conditional.ts";
import type { VersionedFlag } from "../../writes/change.ts";
import {
  type MaybePast,
  type PastQuery,
  pastParameters,
  pastQuery,
  tellRevision,
  whenOf,
} from "../history/past-parameters.ts";
import type { AsItWas } from "../history/past-reads.ts";
import { type ListedFlags, listBody, pageOfFlags, sendFlag, streamFlags } from "./bodies.ts";

const tags = ["Flags"];

const ListQuery = closedObject({
  ...pageParameters,
  type: Type.Optional(Type.Unsafe<FlagTypeName>(flagTypeSchema)),
  enabled: Type.Optional(
    Type.Boolean({
      description: "Only flags that are on, or off.",
      "x-must-be": "true or false",
    }),
  ),
  tag: Type.Optional(
    Type.String({
      maxLength: 64,
      description: "Only flags with this tag.",
      "x-must-be": "a tag of at most 64 characters",
    }),
  ),
  owner: Type.Optional(
    Type.String({
      maxLength: 128,
      description: "Only flags of this owner.",
      "x-must-be": "an owner of at most 128 characters",
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
  ...pastParameters,
});

const select = (list: ListedFlags, query: Static<typeof ListQuery>): VersionedFlag[] => {
  const text = query.q?.toLowerCase();
  return list
    .all()
    .filter(
      ({ flag }) =>
        (query.type === undefined || flag.type === query.type) &&
        (query.enabled === undefined || flag.enabled === query.enabled) &&
        (query.tag === undefined || (flag.tags?.includes(query.tag) ?? false)) &&
        (query.owner === undefined || flag.owner === query.owner) &&
        (text === undefined ||
          flag.key.toLowerCase().includes(text) ||
          (flag.description?.toLowerCase().includes(text) ?? false)),
    );
};

export const flagReadRoutes = (app: FastifyInstance, flags: FlagReads, past: AsItWas): void => {
  app.get<{ Querystring: Static<typeof ListQuery> }>(
    "/flags",
    route(
      "flags.read",
      {
        tags,
        operationId: "listFlags",
        summary: "List flags",
        description:
          "All flags of the environment, sorted by key; filtered, and with `limit` in pages. A page ends early, with a Link to the next one, when its flags have more than 8 MiB. With `at` or `revision` as they were then, also those that were deleted since.",
        querystring: ListQuery,
        headers: freshnessHeader,
        response: answers(
          {
            200: {
              description: "The flags.",
              schema: Type.Array(Type.Unsafe<Flag>(flagReference)),
              example: [flagExample],
              headers: { ...headers.listTag, ...headers.next, ...headers.pastRevision },
            },
            304: { description: "Nothing has changed.", headers: headers.listTag },
          },
          "CONFLICT",
        ),
      },
      { large: "past" },
    ),
    async (request, reply) => {
      const { query } = request;
      const when = whenOf(query);
      if (!when.ok) return sendFailure(reply, when.failure);
      const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
      if (query.cursor !== undefined && !isFlagKey(after ?? "")) {
        return sendFailure(reply, badCursor);
      }
      const { environment } = request.auth.principal;
      const found: Result<ListedFlags> = await (when.value
        ? past.list(environment, when.value)
        : flags.list(environment));
      if (!found.ok) return sendFailure(reply, found.failure);
      const list = found.value;
      tellRevision(reply, when.value && list.revision);
      if (sendNotModified(request, reply, list.revision)) return reply;
      reply.type(jsonType);
      if (Object.keys(query).length === 0) return reply.send(listBody(list));

      const selected = select(list, query);
      const begin = after === undefined ? 0 : selected.findIndex(({ flag }) => flag.key > after);
      const rest = begin === -1 ? [] : selected.slice(begin);
      if (query.limit === undefined) return reply.send(streamFlags(rest));
      const page = pageOfFlags(rest, query.limit);
      const last = page.at(-1);
      if (last && page.length < rest.length) {
        sendNextLink(request, reply, cursorFor(last.flag.key));
      }
      return reply.send(streamFlags(page));
    },
  );

  app.get<{ Params: FlagPath; Querystring: PastQuery }>(
    "/flags/:key",
    route(
      "flags.read",
      {
        tags,
        operationId: "getFlag",
        summary: "Read one flag",
        description: "With `at` or `revision` as it was then, also when it was deleted since.",
        params: flagPath,
        querystring: pastQuery,
        headers: freshnessHeader,
        response: answers(
          {
            200: {
              description: "The flag.",
              schema: flagReference,
              example: flagExample,
              headers: { ...headers.flagTag, ...headers.pastRevision },
            },
            304: { description: "It has not changed.", headers: headers.flagTag },
          },
          "NOT_FOUND",
          "CONFLICT",
        ),
      },
      { large: "past" },
    ),
    async (request, reply) => {
      const { params, query, auth } = request;
      const { environment } = auth.principal;
      const when = whenOf(query);
      if (!when.ok) return sendFailure(reply, when.failure);
      const found: Result<VersionedFlag & MaybePast> = await (when.value
        ? past.flag(environment, when.value, params.key)
        : flags.get(environment, params.key));
      if (!found.ok) return sendFailure(reply, found.failure);
      const { value } = found;
      tellRevision(reply, value.revision);
      return sendNotModified(request, reply, value.version) ? reply : sendFlag(reply, value);
    },
  );
};
