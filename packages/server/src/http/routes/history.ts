// /flags/:key/history: who changed what, and when.
import type { Flag } from "@halyard/core/flag";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { flagEventTypes } from "../../domain/change.ts";
import type { Flags } from "../../management/flags.ts";
import { answers, headers } from "../describe.ts";
import { sendFailure } from "../error-reply.ts";
import { badCursor, decodeCursor, sendNextLink } from "../paging.ts";
import { cursorParameter, flagExample, flagReference, limitParameter } from "../schemas.ts";

const closed = { additionalProperties: false } as const;
const KeyPath = Type.Object({ key: Type.String({ description: "The flag's key." }) });

const HistoryQuery = Type.Object(
  { limit: Type.Optional(limitParameter), cursor: Type.Optional(cursorParameter) },
  closed,
);
const defaultHistoryLimit = 100;

const Entry = Type.Object(
  {
    version: Type.Integer({ description: "The flag's version that the change made." }),
    createdAt: Type.String({ description: "When, ISO 8601 in UTC." }),
    actor: Type.Object(
      {
        keyId: Type.Unsafe<string | null>({
          type: ["string", "null"],
          description: "The API key that was used.",
        }),
        name: Type.String({ description: "The name of that key." }),
      },
      closed,
    ),
    events: Type.Array(Type.Enum([...flagEventTypes]), { description: "What happened." }),
    before: Type.Unsafe<Flag | null>({ anyOf: [flagReference, { type: "null" }] }),
    after: Type.Unsafe<Flag | null>({ anyOf: [flagReference, { type: "null" }] }),
  },
  closed,
);

export const historyRoutes = (app: FastifyInstance, flags: Flags): void => {
  app.get<{ Params: Static<typeof KeyPath>; Querystring: Static<typeof HistoryQuery> }>(
    "/flags/:key/history",
    {
      config: { role: "admin" },
      schema: {
        tags: ["Flags"],
        operationId: "getFlagHistory",
        summary: "Read the history of a flag",
        description: "Every change, newest first. The history of a deleted flag stays readable.",
        params: KeyPath,
        querystring: HistoryQuery,
        response: answers(
          {
            200: {
              description: "The changes.",
              schema: Type.Array(Entry),
              example: [
                {
                  version: 2,
                  createdAt: "2026-11-14T12:00:00.000Z",
                  actor: { keyId: "9f86d081884c7d65", name: "ci" },
                  events: ["flag.enabled"],
                  before: { ...flagExample, enabled: false },
                  after: flagExample,
                },
              ],
              headers: headers.next,
            },
          },
          "NOT_FOUND",
        ),
      },
    },
    async (request, reply) => {
      const { query, params, caller } = request;
      const cursor = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
      if (query.cursor !== undefined && !/^\d{1,15}$/.test(cursor ?? "")) {
        return sendFailure(reply, badCursor);
      }
      const limit = query.limit ?? defaultHistoryLimit;
      const before = cursor === undefined ? {} : { before: Number(cursor) };
      const found = await flags.history(caller.principal, params.key, {
        limit: limit + 1,
        ...before,
      });
      if (!found.ok) return sendFailure(reply, found.failure);
      const page = found.value.slice(0, limit);
      const last = page.at(-1);
      if (last && found.value.length > limit) sendNextLink(request, reply, String(last.id));
      return page.map(({ version, at, actor, actions, before: old, after }) => ({
        version,
        createdAt: at.toISOString(),
        actor,
        events: actions,
        before: old,
        after,
      }));
    },
  );
};
