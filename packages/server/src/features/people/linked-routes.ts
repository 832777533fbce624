// /users/{id}/linked: accounts that belong to one human, as an owner declares.
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { sendFailure } from "../../platform/http/errors/error-reply.ts";
import { answers, route, withBody } from "../../platform/http/openapi/describe.ts";
import { closedObject } from "../../platform/http/openapi/schemas.ts";
import type { Users } from "./people.ts";
import { example, IdPath, Person, tags } from "./routes.ts";
import { shownUser } from "./user.ts";

const LinkBody = closedObject({
  account: Type.String({
    pattern: "^usr_[0-9a-f]+$",
    description: "The id of the other account.",
    "x-must-be": "the id of an account, usr_<id>",
  }),
});

const now = { 200: { description: "The person as they are now.", schema: Person, example } };

export const linkedAccountRoutes = (
  app: FastifyInstance,
  users: Pick<Users, "link" | "unlink">,
): void => {
  app.post<{ Params: Static<typeof IdPath>; Body: Static<typeof LinkBody> }>(
    "/users/:id/linked",
    route("users.write", {
      tags,
      operationId: "linkAccounts",
      summary: "Link two accounts of one human",
      description:
        "Both stay as they are, but neither approves what the other, or a key of the other, proposes. From the next sign-in on, groups give roles to an account whose address another linked account had first.",
      params: IdPath,
      body: { ...LinkBody, examples: [{ account: "usr_7d793037a0760186" }] },
      response: answers(now, "NOT_FOUND", ...withBody),
    }),
    async ({ auth, params, body }, reply) => {
      const linked = await users.link(auth.principal, params.id, body.account);
      return linked.ok ? shownUser(linked.value) : sendFailure(reply, linked.failure);
    },
  );

  app.delete<{ Params: Static<typeof IdPath> }>(
    "/users/:id/linked",
    route("users.write", {
      tags,
      operationId: "unlinkAccount",
      summary: "Unlink an account",
      description:
        "From all accounts that it is linked with. Accounts with the same address still count as one human.",
      params: IdPath,
      response: answers(now, "NOT_FOUND", ...withBody),
    }),
    async ({ auth, params }, reply) => {
      const unlinked = await users.unlink(auth.principal, params.id);
      return unlinked.ok ? shownUser(unlinked.value) : sendFailure(reply, unlinked.failure);
    },
  );
};
