// /keys: the API keys of the caller's own environment.
import type { FastifyInstance } from "fastify";
import { type ApiKey, maxKeyNameLength } from "../../domain/api-key.ts";
import { roles } from "../../domain/principal.ts";
import type { ApiKeys } from "../../management/api-keys.ts";
import { sendFailure } from "../errors/error-reply.ts";
import { answers, headers, route, withBody } from "../openapi/describe.ts";
import { closedObject, idempotencyHeader, nullable } from "../openapi/schemas.ts";
import { type Static, Type } from "../openapi/type.ts";
import { replyIdempotently } from "./idempotency.ts";

const tags = ["Keys"];
const IdPath = Type.Object({ id: Type.String({ description: "The key's id." }) });

const fields = {
  name: Type.String({
    minLength: 1,
    maxLength: maxKeyNameLength,
    pattern: "\\S",
    description: "Who or what uses it; history and events name it.",
    "x-must-be": `a text of 1 to ${maxKeyNameLength} characters`,
  }),
  role: Type.Enum([...roles], {
    description: "`client` evaluates, `server` reads flags too, `admin` does everything.",
    "x-must-be": `one of ${roles.join(", ")}`,
  }),
};
const shownFields = {
  id: Type.String(),
  ...fields,
  createdAt: Type.String({ description: "ISO 8601 in UTC." }),
  lastUsedAt: nullable<string>("string", "About to the minute; `null` when it was never used."),
};
const CreateBody = closedObject(fields);
const Key = closedObject(shownFields);
const CreatedKey = closedObject({
  ...shownFields,
  key: Type.String({ description: "The key itself. Shown this once." }),
});

const example = {
  id: "9f86d081884c7d65",
  name: "ci",
  role: "admin",
  createdAt: "2026-11-14T12:00:00.000Z",
  lastUsedAt: null,
};

const shown = ({ id, name, role, createdAt, lastUsedAt }: ApiKey) => ({
  id,
  name,
  role,
  createdAt: createdAt.toISOString(),
  lastUsedAt: lastUsedAt?.toISOString() ?? null,
});

export const keyRoutes = (app: FastifyInstance, keys: ApiKeys): void => {
  app.get(
    "/keys",
    route("keys.read", {
      tags,
      operationId: "listKeys",
      summary: "List API keys",
      response: answers({
        200: {
          description: "The keys that are valid, oldest first; without their secrets.",
          schema: Type.Array(Key),
          example: [example],
        },
      }),
    }),
    async (request) => (await keys.list(request.auth.principal.environment)).map(shown),
  );

  app.post<{ Body: Static<typeof CreateBody> }>(
    "/keys",
    route("keys.write", {
      tags,
      operationId: "createKey",
      summary: "Create an API key",
      description: "The key is in this answer and nowhere else: keep it.",
      headers: idempotencyHeader,
      body: { ...CreateBody, examples: [{ name: "web", role: "client" }] },
      response: answers(
        {
          201: {
            description: "The key.",
            schema: CreatedKey,
            example: { ...example, key: "hal_9f86d081884c7d65_<secret>" },
            headers: headers.repeated,
          },
        },
        "CONFLICT",
        ...withBody,
      ),
    }),
    (request, reply) =>
      replyIdempotently(
        request,
        reply,
        (caller, once) => keys.create(caller, request.body, once),
        ({ apiKey, text }) => reply.code(201).send({ ...shown(apiKey), key: text }),
      ),
  );

  app.delete<{ Params: Static<typeof IdPath> }>(
    "/keys/:id",
    route("keys.write", {
      tags,
      operationId: "revokeKey",
      summary: "Revoke an API key",
      description:
        "It takes effect at once. The last admin key of an environment cannot be revoked here.",
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
