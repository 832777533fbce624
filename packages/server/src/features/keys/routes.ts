// /keys: the API keys of the caller's own environment.

import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import type { ApiKey } from "../../platform/auth/api-key.ts";
import { keyRoles, may, roles } from "../../platform/auth/principal.ts";
import { invalid, ok, type Result } from "../../platform/errors.ts";
import { sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route, withBody } from "../../platform/http/openapi/describe.ts";
import { maxFlipsSchema } from "../../platform/http/openapi/impact-limit.ts";
import { momentRule, readMoment } from "../../platform/http/openapi/moment.ts";
import { requestReference } from "../../platform/http/openapi/proposed.ts";
import { closedObject, idempotencyHeader, nullable } from "../../platform/http/openapi/schemas.ts";
import { stringEnum } from "../../platform/http/openapi/string-enum.ts";
import { replyIdempotently } from "../../writes/idempotent-route.ts";
import type { ApiKeys } from "./keys.ts";
import { maxKeyNameLength, maxOrigins, originRule } from "./rules.ts";

const tags = ["Keys"];
const IdPath = Type.Object({ id: Type.String({ description: "The key's id." }) });

const roleDescription =
  "`client` evaluates, `server` reads too, except keys, `editor` changes flags and segments, `admin` does everything in its environment, `owner` manages people and environments too.";
export const keyFields = {
  name: Type.String({
    minLength: 1,
    maxLength: maxKeyNameLength,
    pattern: "\\S",
    description: "Who or what uses it; history and events name it.",
    "x-must-be": `a text of 1 to ${maxKeyNameLength} characters`,
  }),
  role: stringEnum([...keyRoles], {
    description: roleDescription,
    "x-must-be": `one of ${keyRoles.join(", ")} (the operator issues keys with the role owner, with halyard keys create)`,
  }),
};
/** The operator issues those of owners. */
const shownRole = stringEnum([...keyRoles, "owner"], { description: roleDescription });
const expiresAt = nullable<string>(
  "string",
  "From then on it is refused; `null` when it does not expire.",
);
const originList = {
  type: ["array", "null"],
  items: { type: "string", maxLength: 300, "x-must-be": originRule },
  description:
    "Of a client key: the origins of the pages that may use it, compared with the header Origin; `null` for any client.",
  "x-must-be": `a list of 1 to ${maxOrigins} origins such as https://app.example.com, or null`,
  examples: [["https://app.example.com"]],
};
/** Whose personal key it is. */
const keyUser = {
  type: ["object", "null"],
  properties: { id: { type: "string" }, name: { type: "string" } },
  required: ["id", "name"],
  additionalProperties: false,
  description: "Whose personal key it is: it may do what both it and they may; `null` for others.",
};
export const shownKeyFields = {
  id: Type.String(),
  name: keyFields.name,
  role: shownRole,
  createdAt: Type.String({ description: "ISO 8601 in UTC." }),
  lastUsedAt: nullable<string>("string", "About to the minute; `null` when it was never used."),
  expiresAt,
  origins: Type.Unsafe<string[] | null>(originList),
  user: Type.Unsafe<{ readonly id: string; readonly name: string } | null>(keyUser),
};
const maxFlips = maxFlipsSchema(
  "The limit on flips of what it changes: more than so many percent are refused unless that is confirmed; left out or `null` for none. The lower one of this and the environment's holds.",
);
const writesDirectly = Type.Boolean({
  description:
    "Whether it changes a protected environment without a change request; left out when it does not.",
  "x-must-be": "true or false",
});
const CreateBody = closedObject({
  ...keyFields,
  writesDirectly: Type.Optional(writesDirectly),
  maxFlips: Type.Optional(maxFlips),
  expiresAt: Type.Optional(
    Type.Unsafe<string | null>({ ...expiresAt, "x-must-be": `${momentRule}, or null` }),
  ),
  origins: Type.Optional(
    Type.Unsafe<string[] | null>({ ...originList, minItems: 1, maxItems: maxOrigins }),
  ),
});
const OwnKey = closedObject({
  id: Type.String(),
  name: Type.String(),
  role: stringEnum([...roles], { description: "Of a personal key, what its person may do too." }),
  environment: Type.String({ description: "The environment that the key is tied to." }),
  expiresAt,
  proposes: Type.Optional(
    Type.Boolean({
      description:
        "What it changes is proposed: the environment is protected. Left out when it is not so.",
    }),
  ),
});
const Key = closedObject({
  ...shownKeyFields,
  writesDirectly: Type.Optional(writesDirectly),
  maxFlips: Type.Optional(maxFlips),
});
export const CreatedKey = closedObject({
  ...Key.properties,
  proposed: Type.Optional(
    Type.Unsafe<unknown>({
      ...requestReference,
      description:
        "In a protected environment, for a key that is to write directly: what another person has to approve before it does.",
    }),
  ),
  key: Type.String({ description: "The key itself. Shown this once." }),
});

export const keyExample = {
  id: "9f86d081884c7d65",
  name: "ci",
  role: "admin",
  createdAt: "2026-11-14T12:00:00.000Z",
  lastUsedAt: null,
  expiresAt: null,
  origins: null,
  user: null,
};

export const shownKey = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  role: key.role,
  createdAt: key.createdAt.toISOString(),
  lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  expiresAt: key.expiresAt?.toISOString() ?? null,
  origins: key.origins,
  user: key.user,
  ...(key.writesDirectly && { writesDirectly: true }),
  ...(key.maxFlips !== null && { maxFlips: key.maxFlips }),
});

/** The time that the body gives as text, or what is wrong with it. */
const expiryOf = ({ expiresAt = null }: Static<typeof CreateBody>): Result<Date | null> => {
  const read = expiresAt === null ? null : readMoment(expiresAt);
  return read === undefined ? invalid("expiresAt", `must be ${momentRule}, or null`) : ok(read);
};

export const keyRoutes = (app: FastifyInstance, keys: ApiKeys): void => {
  app.get(
    "/key",
    route("key.show", {
      tags,
      operationId: "getKey",
      summary: "Read which key this is",
      description: "The key of the request itself, for every role.",
      response: answers({
        200: {
          description: "The key.",
          schema: OwnKey,
          example: {
            id: "9f86d081884c7d65",
            name: "ci",
            role: "admin",
            environment: "production",
            expiresAt: null,
          },
        },
      }),
    }),
    async ({ auth }) => {
      const { keyId: id, actor, role, environment, expiresAt } = auth.principal;
      const proposes = may(auth.principal, "flags.write") && (await keys.proposes(auth.principal));
      return {
        id,
        name: actor.name,
        role,
        environment: environment.name,
        expiresAt: expiresAt?.toISOString() ?? null,
        ...(proposes && { proposes }),
      };
    },
  );

  app.get(
    "/keys",
    route("keys.read", {
      tags,
      operationId: "listKeys",
      summary: "List API keys",
      response: answers({
        200: {
          description:
            "The keys that are not revoked, expired ones too, oldest first; without their secrets.",
          schema: Type.Array(Key),
          example: [keyExample],
        },
      }),
    }),
    async (request) => (await keys.list(request.auth.principal.environment)).map(shownKey),
  );

  app.post<{ Body: Static<typeof CreateBody> }>(
    "/keys",
    route("keys.write", {
      tags,
      operationId: "createKey",
      summary: "Create an API key",
      description:
        "The key is in this answer and nowhere else: keep it. With `expiresAt` it works until then. With `origins` a client key works only in requests whose header Origin is one of them, so in pages and not in programs. With `writesDirectly` it changes a protected environment without a change request; there, it does so once another person has approved `proposed`.",
      headers: idempotencyHeader,
      body: { ...CreateBody, examples: [{ name: "web", role: "client" }] },
      response: answers(
        {
          201: {
            description: "The key.",
            schema: CreatedKey,
            example: { ...keyExample, key: "hal_9f86d081884c7d65_<secret>" },
            headers: headers.repeated,
          },
        },
        "CONFLICT",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const expiresAt = expiryOf(request.body);
      if (!expiresAt.ok) return sendFailure(reply, expiresAt.failure);
      const { name, role, origins = null, writesDirectly = false, maxFlips = null } = request.body;
      const limits = { expiresAt: expiresAt.value, origins, maxFlips };
      const wanted = { name, role, writesDirectly, ...limits };
      return replyIdempotently(
        request,
        reply,
        (caller, once) => keys.create(caller, wanted, once),
        ({ apiKey, text, proposed }) =>
          reply.code(201).send({ ...shownKey(apiKey), key: text, ...(proposed && { proposed }) }),
      );
    },
  );

  app.delete<{ Params: Static<typeof IdPath> }>(
    "/keys/:id",
    route("keys.write", {
      tags,
      operationId: "revokeKey",
      summary: "Revoke an API key",
      description:
        "It takes effect immediately. The last admin key of an environment cannot be revoked here, and a key with the role owner only by an owner.",
      params: IdPath,
      response: answers(
        { 204: { description: "It is revoked." } },
        "NOT_FOUND",
        "CONFLICT",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const revoked = await keys.revoke(request.auth.principal, request.params.id);
      return revoked.ok ? reply.code(204).send() : sendFailure(reply, revoked.failure);
    },
  );
};
