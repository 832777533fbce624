// /users: people, and what they may do where.

import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import { type PersonRole, personRoles } from "../../platform/auth/principal.ts";
import { sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, headers, route, withBody } from "../../platform/http/openapi/describe.ts";
import { closedObject, idempotencyHeader, nullable } from "../../platform/http/openapi/schemas.ts";
import { stringEnum } from "../../platform/http/openapi/string-enum.ts";
import { replyIdempotently } from "../../writes/idempotent-route.ts";
import type { PersonChange, Users } from "./people.ts";
import type { Invitation } from "./sign-in/links.ts";
import { maxUserNameLength, shownUser } from "./user.ts";

export const tags = ["People"];
export const IdPath = Type.Object({
  id: Type.String({ description: "The person's id, `usr_<id>`." }),
});

const name = Type.String({
  minLength: 1,
  maxLength: maxUserNameLength,
  description: "As history and events name them.",
  "x-must-be": `a text of 1 to ${maxUserNameLength} characters`,
});
const email = Type.Unsafe<string | null>({
  type: ["string", "null"],
  maxLength: 254,
  description: "Nobody else has the same one, however it is written. Webhooks do not tell it.",
  "x-must-be": "an e-mail address, or null",
});
const owner = Type.Boolean({
  description: "Manages people and environments, and may do everything in every environment.",
  "x-must-be": "true or false",
});
const role = {
  type: "string",
  enum: [...personRoles],
  "x-must-be": `one of ${personRoles.join(", ")}`,
};
const roleMap = <T>(each: object, description: string) =>
  Type.Unsafe<Readonly<Record<string, T>>>({
    type: "object",
    maxProperties: 1_000,
    additionalProperties: each,
    description,
    "x-must-be": "an object of roles by the names of environments",
  });
const roles = roleMap<PersonRole>(role, "By the name of the environment; empty for an owner.");
const roleChanges = roleMap<PersonRole | null>(
  { anyOf: [role, { type: "null" }] },
  "By the name of the environment; `null` takes the role away, and what is not named stays. Not for an owner.",
);

const CreateBody = closedObject({
  name,
  email: Type.Optional(email),
  owner: Type.Optional(owner),
  roles: Type.Optional(roles),
});
const PatchBody = closedObject({
  name: Type.Optional(name),
  email: Type.Optional(email),
  owner: Type.Optional(owner),
  roles: Type.Optional(roleChanges),
});

const shownFields = {
  id: Type.String({ description: "Of the form `usr_<id>`." }),
  name,
  email,
  owner,
  roles,
  state: stringEnum(["invited", "active"], {
    description: "`invited` until they have signed in for the first time.",
  }),
  createdAt: Type.String({ description: "ISO 8601 in UTC." }),
  signedInAt: nullable<string>("string", "When they last signed in."),
  hasPassword: Type.Boolean(),
  hasSecondFactor: Type.Boolean(),
  providers: Type.Array(Type.String(), {
    description: "The issuers of the providers that they sign in with.",
  }),
  linked: Type.Array(Type.String(), {
    description: "The ids of the accounts that an owner linked: they belong to the same human.",
  }),
  sameAddress: Type.Array(Type.String(), {
    description: "The ids of the accounts that have, or had, the same e-mail address.",
  }),
};
export const Person = closedObject(shownFields);
const InvitationSchema = closedObject({
  url: Type.String({ description: "Lets the person sign in once. Shown this once." }),
  expiresAt: Type.String({ description: "Seven days from now, ISO 8601 in UTC." }),
});
const Invited = closedObject({ ...shownFields, invitation: InvitationSchema });

export const example = {
  id: "usr_5d41402abc4b2a76",
  name: "Ada Lovelace",
  email: "ada@example.com",
  owner: false,
  roles: { production: "editor" },
  state: "invited",
  createdAt: "2026-11-14T12:00:00.000Z",
  signedInAt: null,
  hasPassword: false,
  hasSecondFactor: false,
  providers: [],
  linked: [],
  sameAddress: [],
};
const invitationExample = {
  url: "https://flags.example.com/invitation?token=<random>",
  expiresAt: "2026-11-21T12:00:00.000Z",
};

const changeOf = ({ owner: isOwner, ...rest }: Static<typeof PatchBody>): PersonChange => ({
  ...rest,
  ...(isOwner !== undefined && { isOwner }),
});

export const userRoutes = (
  app: FastifyInstance,
  users: Users,
  publicUrl: string | undefined,
): void => {
  const shownInvitation = (
    { protocol, host }: FastifyRequest,
    { token, expiresAt }: Invitation,
  ) => ({
    url: `${publicUrl ?? `${protocol}://${host}`}/invitation?token=${token}`,
    expiresAt: expiresAt.toISOString(),
  });

  app.get(
    "/users",
    route("users.read", {
      tags,
      operationId: "listUsers",
      summary: "List people",
      response: answers({
        200: {
          description: "Everybody with an account, by name.",
          schema: Type.Array(Person),
          example: [example],
        },
      }),
    }),
    async () => (await users.list()).map(shownUser),
  );

  app.post<{ Body: Static<typeof CreateBody> }>(
    "/users",
    route("users.write", {
      tags,
      operationId: "inviteUser",
      summary: "Invite a person",
      description:
        "The link of the invitation is in this answer and nowhere else: hand it to the person. It is good for one use within seven days.",
      headers: idempotencyHeader,
      body: {
        ...CreateBody,
        examples: [{ name: example.name, email: example.email, roles: example.roles }],
      },
      response: answers(
        {
          201: {
            description: "The person, with the invitation.",
            schema: Invited,
            example: { ...example, invitation: invitationExample },
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
        (caller, once) => {
          const { owner: isOwner = false, ...wanted } = request.body;
          return users.invite(caller, { ...wanted, isOwner }, once);
        },
        ({ user, invitation }) =>
          reply
            .code(201)
            .send({ ...shownUser(user), invitation: shownInvitation(request, invitation) }),
      ),
  );

  app.patch<{ Params: Static<typeof IdPath>; Body: Static<typeof PatchBody> }>(
    "/users/:id",
    route("users.write", {
      tags,
      operationId: "updateUser",
      summary: "Change a person",
      description:
        "Their name, their address and what they may do. It takes effect at their next request. Whoever stops being an owner has the roles that the same request gives, and no others. The last owner who can sign in stays one.",
      params: IdPath,
      body: { ...PatchBody, examples: [{ roles: { production: "admin", development: null } }] },
      response: answers(
        { 200: { description: "The person as they are now.", schema: Person, example } },
        "NOT_FOUND",
        "CONFLICT",
        ...withBody,
      ),
    }),
    async ({ auth, params, body }, reply) => {
      const changed = await users.change(auth.principal, params.id, changeOf(body));
      return changed.ok ? shownUser(changed.value) : sendFailure(reply, changed.failure);
    },
  );

  app.delete<{ Params: Static<typeof IdPath> }>(
    "/users/:id",
    route("users.write", {
      tags,
      operationId: "removeUser",
      summary: "Remove a person",
      description:
        "Their sessions, personal keys and streams end at once. History keeps their name. The last owner who can sign in cannot be removed here.",
      params: IdPath,
      response: answers(
        { 204: { description: "They are removed." } },
        "NOT_FOUND",
        "CONFLICT",
        ...withBody,
      ),
    }),
    async ({ auth, params }, reply) => {
      const removed = await users.remove(auth.principal, params.id);
      return removed.ok ? reply.code(204).send() : sendFailure(reply, removed.failure);
    },
  );

  app.post<{ Params: Static<typeof IdPath> }>(
    "/users/:id/invitation",
    route("users.write", {
      tags,
      operationId: "renewInvitation",
      summary: "Invite a person again",
      description:
        "A new link, also for somebody who has lost their password. Earlier links are no longer good; everything else stays until it is used.",
      params: IdPath,
      response: answers(
        {
          200: {
            description: "The invitation.",
            schema: InvitationSchema,
            example: invitationExample,
          },
        },
        "NOT_FOUND",
        ...withBody,
      ),
    }),
    async (request, reply) => {
      const made = await users.newInvitation(request.auth.principal, request.params.id);
      return made.ok ? shownInvitation(request, made.value) : sendFailure(reply, made.failure);
    },
  );
};
