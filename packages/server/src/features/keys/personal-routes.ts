// /personal-keys: the keys that people who are signed in make for themselves, in the environment that they look at.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import type { UserRef } from "../../platform/auth/principal.ts";
import { invalidField } from "../../platform/errors.ts";
import { sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route, withBody } from "../../platform/http/openapi/describe.ts";
import { moment, momentRule, readMoment } from "../../platform/http/openapi/moment.ts";
import { closedObject, idempotencyHeader } from "../../platform/http/openapi/schemas.ts";
import { replyIdempotently } from "../../writes/idempotent-route.ts";
import type { ApiKeys } from "./keys.ts";
import { CreatedKey, keyExample, keyFields, shownKey, shownKeyFields } from "./routes.ts";
import { maxPersonalKeys } from "./rules.ts";

const tags = ["Keys"];
const IdPath = Type.Object({ id: Type.String({ description: "The key's id." }) });
const CreateBody = closedObject({
  ...keyFields,
  expiresAt: moment("From then on it is refused; within a year."),
});
const example = {
  ...keyExample,
  name: "laptop",
  role: "editor",
  expiresAt: "2027-02-14T12:00:00.000Z",
  user: { id: "usr_5d41402abc4b2a76", name: "Ada Lovelace" },
};

/** The person who is signed in; keys do not come this far. */
const personOf = ({ auth }: FastifyRequest): UserRef => {
  const { user } = auth.principal.actor;
  if (!user) throw new Error("A route for people has let somebody else in.");
  // Without the address, which events alone may tell.
  return { id: user.id, name: user.name };
};

export const personalKeyRoutes = (app: FastifyInstance, keys: ApiKeys): void => {
  app.get(
    "/personal-keys",
    route("personal-keys.read", {
      tags,
      operationId: "listPersonalKeys",
      summary: "List your own keys",
      description: "Only for people who are signed in to the dashboard.",
      response: answers({
        200: {
          description: "Your keys in this environment, expired ones too, oldest first.",
          schema: Type.Array(closedObject(shownKeyFields)),
          example: [example],
        },
      }),
    }),
    async (request) => {
      const person = personOf(request);
      const all = await keys.list(request.auth.principal.environment);
      return all.filter(({ user }) => user?.id === person.id).map(shownKey);
    },
  );

  app.post<{ Body: Static<typeof CreateBody> }>(
    "/personal-keys",
    route("personal-keys.write", {
      tags,
      operationId: "createPersonalKey",
      summary: "Create a key of your own",
      description: `Only for people who are signed in to the dashboard. At each request the key may do what both its role and yours allow, and it ends with your access. At most ${maxPersonalKeys} in each environment. The key is in this answer and nowhere else: keep it.`,
      headers: idempotencyHeader,
      body: {
        ...CreateBody,
        examples: [{ name: example.name, role: example.role, expiresAt: example.expiresAt }],
      },
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
    async (request, reply) => {
      const person = personOf(request);
      const { name, role, expiresAt: text } = request.body;
      const expiresAt = readMoment(text);
      if (expiresAt === undefined) {
        return sendFailure(reply, invalidField("expiresAt", `must be ${momentRule}`));
      }
      return replyIdempotently(
        request,
        reply,
        (caller, once) => keys.createPersonal(person, caller, { name, role, expiresAt }, once),
        ({ apiKey, text: key }) => reply.code(201).send({ ...shownKey(apiKey), key }),
      );
    },
  );

  app.delete<{ Params: Static<typeof IdPath> }>(
    "/personal-keys/:id",
    route("personal-keys.write", {
      tags,
      operationId: "revokePersonalKey",
      summary: "Revoke a key of your own",
      description: "Only for people who are signed in to the dashboard.",
      params: IdPath,
      response: answers({ 204: { description: "It is revoked." } }, "NOT_FOUND", ...withBody),
    }),
    async (request, reply) => {
      const person = personOf(request);
      const { principal } = request.auth;
      const revoked = await keys.revokePersonal(person, principal, request.params.id);
      return revoked.ok ? reply.code(204).send() : sendFailure(reply, revoked.failure);
    },
  );
};
