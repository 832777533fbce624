// /flags/:key/history and /history: who changed what, and when.

import { flagEventTypes } from "@halyard/core/event-types";
import type { Flag } from "@halyard/core/flags/registry";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { hideSecretsFrom } from "../../platform/auth/hide-secrets.ts";
import { sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route } from "../../platform/http/openapi/describe.ts";
import {
  Actor,
  closedObject,
  flagExample,
  flagReference,
  nullable,
  pageParameters,
} from "../../platform/http/openapi/schemas.ts";
import { stringEnum } from "../../platform/http/openapi/string-enum.ts";
import { pageOf, sendPage } from "../../platform/http/paging.ts";
import {
  type HistoryEntry,
  type HistoryPlace,
  type HistoryQuery,
  historySubjects,
} from "../../writes/history-entry.ts";
import type { History } from "./history.ts";
import { HistoryParameters, wrongParameters } from "./parameters.ts";

const KeyPath = Type.Object({ key: Type.String({ description: "The flag's key." }) });

const PageQuery = closedObject(pageParameters);

const who = {
  createdAt: Type.String({ description: "When, ISO 8601 in UTC." }),
  actor: Actor,
  reason: Type.Optional(
    Type.String({ description: "Why; only when whoever made the change said so." }),
  ),
  changeRequest: Type.Optional(
    closedObject(
      {
        id: Type.String(),
        approvedBy: Type.Array(Type.String(), {
          description:
            "The names of the people; with a personal key also the key: `Ada Lovelace (key cli)`.",
        }),
      },
      { description: "The change request that it was part of, and who approved it." },
    ),
  ),
  bypass: Type.Optional(
    closedObject(
      { actor: Actor, reason: Type.String() },
      { description: "The owner who went past the approval that the environment asks for." },
    ),
  ),
};

const chain = nullable<string>(
  "string",
  "The chain of the environment's history at this entry, which its events carry too; null for an entry that something other than Halyard wrote.",
);

/** Who, when and why, as both lists show it. */
const shownWho = ({ at, actor, reason, review }: HistoryEntry) => ({
  createdAt: at.toISOString(),
  actor,
  ...(reason !== undefined && { reason }),
  ...review,
});

const FlagEntry = closedObject({
  version: Type.Integer({ description: "The flag's version that the change made." }),
  revision: Type.Integer({ description: "The environment's revision that the change made." }),
  ...who,
  events: Type.Array(stringEnum([...flagEventTypes]), { description: "What happened." }),
  before: Type.Unsafe<Flag | null>({ anyOf: [flagReference, { type: "null" }] }),
  after: Type.Unsafe<Flag | null>({ anyOf: [flagReference, { type: "null" }] }),
  chain,
});

const Entry = closedObject({
  subject: stringEnum([...historySubjects]),
  id: Type.String({
    description:
      "The key of the flag or segment, the name of the environment, or the id of the webhook, key, person or change request.",
  }),
  version: nullable<number>(
    "integer",
    "The version of the flag or segment; null for everything else.",
  ),
  revision: nullable<number>(
    "integer",
    "The environment's revision that the change made; null for what is neither a flag nor a segment.",
  ),
  ...who,
  actions: Type.Array(Type.String(), { description: "What happened." }),
  before: nullable<object>("object", "As it was; null when it was made. Never with a secret."),
  after: nullable<object>("object", "As it is after; null when it is gone."),
  chain,
});

const example = {
  version: 2,
  revision: 812,
  createdAt: "2026-11-14T12:00:00.000Z",
  actor: { keyId: "9f86d081884c7d65", name: "ci" },
  reason: "The provider has an incident",
  before: { ...flagExample, enabled: false },
  after: flagExample,
  chain: "3a7bd3e2360a3d29eea436fcfb7e44c735d117c42d1c1835420b6b9942dd4f1b",
};

/** An entry by its time and number: a page begins after it also when it is gone. */
const cursorOf = ({ at, id }: HistoryPlace): string => `${at.getTime()}-${id}`;
const readCursor = (cursor: string): HistoryQuery["before"] => {
  const [, at, id] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? [];
  return at === undefined ? undefined : { at: new Date(Number(at)), id: Number(id) };
};

export const historyRoutes = (app: FastifyInstance, history: History): void => {
  app.get<{ Params: Static<typeof KeyPath>; Querystring: Static<typeof PageQuery> }>(
    "/flags/:key/history",
    route(
      "history.read",
      {
        tags: ["Flags"],
        operationId: "getFlagHistory",
        summary: "Read the history of a flag",
        description:
          "Every change, newest first. The history of a deleted flag stays readable. A page ends early, with a Link to the next one, when its entries have more than 8 MiB.",
        params: KeyPath,
        querystring: PageQuery,
        response: answers(
          {
            200: {
              description: "The changes.",
              schema: Type.Array(FlagEntry),
              example: [{ ...example, events: ["flag.enabled"] }],
              headers: headers.next,
            },
          },
          "NOT_FOUND",
        ),
      },
      { large: "always" },
    ),
    async (request, reply) => {
      const page = pageOf(request.query, readCursor);
      if (!page.ok) return sendFailure(reply, page.failure);
      const { params, auth } = request;
      const found = await history.ofFlag(auth.principal.environment, params.key, page.value);
      if (!found.ok) return sendFailure(reply, found.failure);
      const show = (entry: HistoryEntry) => ({
        version: entry.version,
        revision: entry.revision,
        ...shownWho(entry),
        events: entry.actions,
        before: entry.before,
        after: entry.after,
        chain: entry.chain,
      });
      const { entries, found: all } = found.value;
      return sendPage(request, reply, entries, page.value.limit, show, { found: all, cursorOf });
    },
  );

  app.get<{ Querystring: HistoryParameters }>(
    "/history",
    route(
      "history.read",
      {
        tags: ["History"],
        operationId: "getHistory",
        summary: "Read the history of the environment",
        description:
          "Every change of flags, segments, webhooks, keys, what people may do, and change requests, newest first. A page ends early, with a Link to the next one, when its entries have more than 8 MiB. With `q`, `who`, `tag` or `owner` it also ends early after 10,000 entries were searched: it may then be empty, and the search goes on with the Link. All of it was searched when there is no Link.",
        querystring: HistoryParameters,
        response: answers({
          200: {
            description: "The changes.",
            schema: Type.Array(Entry),
            example: [
              { subject: "flag", id: "new-checkout", ...example, actions: ["flag.enabled"] },
            ],
            headers: headers.next,
          },
        }),
      },
      { large: "always" },
    ),
    async (request, reply) => {
      const page = pageOf(request.query, readCursor);
      if (!page.ok) return sendFailure(reply, page.failure);
      const wrong = wrongParameters(request.query);
      if (wrong) return sendFailure(reply, wrong);
      const { subject, id, deleted, actor, since, until, q, who, tag, owner } = request.query;
      const { principal } = request.auth;
      const hide = hideSecretsFrom(principal);
      const query: HistoryQuery = {
        ...page.value,
        ...(subject !== undefined && { subject }),
        ...(id !== undefined && { subjectId: id }),
        ...(deleted !== undefined && { deleted: true }),
        ...(actor !== undefined && { actor }),
        ...(since !== undefined && { since: new Date(since) }),
        ...(until !== undefined && { until: new Date(until) }),
      };
      const { entries, ...rest } = await history.ofEnvironment(principal.environment, {
        query,
        visible: hide,
        ...(q !== undefined && { text: q }),
        ...(who !== undefined && { who }),
        ...(tag !== undefined && { tag }),
        ...(owner !== undefined && { owner }),
      });
      const show = (entry: HistoryEntry) => ({
        subject: entry.subject,
        id: entry.subjectId,
        version: entry.version,
        revision: entry.revision,
        ...shownWho(entry),
        actions: entry.actions,
        before: hide.state(entry.subject, entry.before),
        after: hide.state(entry.subject, entry.after),
        chain: entry.chain,
      });
      return sendPage(request, reply, entries, page.value.limit, show, { ...rest, cursorOf });
    },
  );
};
