// /flags/:key/history and /history: who changed what, and when.
import { flagEventTypes } from "@halyard/core/event-types";
import type { Flag } from "@halyard/core/flags/registry";
import type { FastifyInstance } from "fastify";
import { type HistoryEntry, type HistoryQuery, historySubjects } from "../../../domain/history.ts";
import { type Failure, invalidField } from "../../../errors.ts";
import type { History } from "../../../management/history/history.ts";
import { hideSecretsFrom } from "../../auth/hide-secrets.ts";
import { sendFailure } from "../../errors/error-reply.ts";
import { answers, headers, route } from "../../openapi/describe.ts";
import { moment, momentRule, readMoment } from "../../openapi/moment.ts";
import {
  Actor,
  closedObject,
  flagExample,
  flagReference,
  nullable,
  pageParameters,
} from "../../openapi/schemas.ts";
import { type Static, Type } from "../../openapi/type.ts";
import { pageOf, sendPage } from "../paging.ts";

const KeyPath = Type.Object({ key: Type.String({ description: "The flag's key." }) });

const PageQuery = closedObject(pageParameters);
const AllQuery = closedObject({
  ...PageQuery.properties,
  subject: Type.Optional(
    Type.Enum([...historySubjects], {
      description:
        "Only changes of flags, segments, webhooks, keys, what people may do, the environment itself, or change requests.",
      "x-must-be": `one of ${historySubjects.join(", ")}`,
    }),
  ),
  id: Type.Optional(
    Type.String({
      maxLength: 128,
      description: "Only changes of the one with this key or id; with `subject`.",
      "x-must-be": "a key or id, with subject",
    }),
  ),
  deleted: Type.Optional(
    Type.Enum(["true"], {
      description:
        "Only deletions: of flags, segments and webhooks, revoked keys, and people who lost their access.",
      "x-must-be": "true",
    }),
  ),
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: "Only changes by the API key or the person with this name or id.",
      "x-must-be": "the name or the id of an API key or a person",
    }),
  ),
  since: Type.Optional(moment("Only changes from this time on.")),
  until: Type.Optional(moment("Only changes up to this time.")),
});
type AllQuery = Static<typeof AllQuery>;

const wrongQuery = (query: AllQuery): Failure | undefined => {
  if (query.id !== undefined && query.subject === undefined) {
    return invalidField("subject", "is required with id");
  }
  const wrong = (["since", "until"] as const).find((name) => {
    const text = query[name];
    return text !== undefined && readMoment(text) === undefined;
  });
  return wrong && invalidField(wrong, `must be ${momentRule}`);
};

const who = {
  createdAt: Type.String({ description: "When, ISO 8601 in UTC." }),
  actor: Actor,
  reason: Type.Optional(
    Type.String({ description: "Why; only when whoever made the change said so." }),
  ),
  changeRequest: Type.Optional(
    closedObject(
      { id: Type.String(), approvedBy: Type.Array(Type.String()) },
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
  "The chain of the environment's history at this entry, which its events carry too; null until the next change adds it.",
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
  events: Type.Array(Type.Enum([...flagEventTypes]), { description: "What happened." }),
  before: Type.Unsafe<Flag | null>({ anyOf: [flagReference, { type: "null" }] }),
  after: Type.Unsafe<Flag | null>({ anyOf: [flagReference, { type: "null" }] }),
  chain,
});

const Entry = closedObject({
  subject: Type.Enum([...historySubjects]),
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
const cursorOf = ({ at, id }: HistoryEntry): string => `${at.getTime()}-${id}`;
const readCursor = (cursor: string): HistoryQuery["before"] => {
  const [, at, id] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? [];
  return at === undefined ? undefined : { at: new Date(Number(at)), id: Number(id) };
};

export const historyRoutes = (app: FastifyInstance, history: History): void => {
  app.get<{ Params: Static<typeof KeyPath>; Querystring: Static<typeof PageQuery> }>(
    "/flags/:key/history",
    route("history.read", {
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
    }),
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

  app.get<{ Querystring: AllQuery }>(
    "/history",
    route("history.read", {
      tags: ["History"],
      operationId: "getHistory",
      summary: "Read the history of the environment",
      description:
        "Every change of flags, segments, webhooks, keys, what people may do, and change requests, newest first. A page ends early, with a Link to the next one, when its entries have more than 8 MiB.",
      querystring: AllQuery,
      response: answers({
        200: {
          description: "The changes.",
          schema: Type.Array(Entry),
          example: [{ subject: "flag", id: "new-checkout", ...example, actions: ["flag.enabled"] }],
          headers: headers.next,
        },
      }),
    }),
    async (request, reply) => {
      const page = pageOf(request.query, readCursor);
      if (!page.ok) return sendFailure(reply, page.failure);
      const wrong = wrongQuery(request.query);
      if (wrong) return sendFailure(reply, wrong);
      const { subject, id, deleted, actor, since, until } = request.query;
      const { principal } = request.auth;
      const hide = hideSecretsFrom(principal);
      const { entries, found } = await history.ofEnvironment(principal.environment, {
        ...page.value,
        ...(subject !== undefined && { subject }),
        ...(id !== undefined && { subjectId: id }),
        ...(deleted !== undefined && { deleted: true }),
        ...(actor !== undefined && { actor }),
        ...(since !== undefined && { since: new Date(since) }),
        ...(until !== undefined && { until: new Date(until) }),
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
      return sendPage(request, reply, entries, page.value.limit, show, { found, cursorOf });
    },
  );
};
