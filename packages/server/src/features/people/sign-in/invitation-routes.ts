// /session/invitation: somebody who was invited gives a name and a password, and is signed in.
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { sendFailure } from "../../../platform/http/errors/error-reply.ts";
import { noQuery } from "../../../platform/http/openapi/schemas.ts";
import { Code, Password, type ProviderName } from "./password-routes.ts";
import { invitationOver, type PasswordSignIn } from "./password-sign-in.ts";
import { type PersonRoutes, placeOf } from "./person-routes.ts";

const Token = Type.String({ minLength: 1, maxLength: 200 });
const Query = Type.Object({ token: Token }, { additionalProperties: false });
const AcceptBody = Type.Object(
  {
    token: Token,
    name: Type.String({ minLength: 1, maxLength: 1_000 }),
    password: Password,
    code: Type.Optional(Code),
  },
  { additionalProperties: false },
);

export const invitationRoutes = (
  app: FastifyInstance,
  routes: PersonRoutes,
  {
    signIn,
    providers,
  }: { readonly signIn: PasswordSignIn; readonly providers: readonly ProviderName[] },
): void => {
  app.get<{ Querystring: Static<typeof Query> }>(
    "/session/invitation",
    { config: { ownRateLimit: true }, schema: { hide: true, querystring: Query } },
    async (request, reply) => {
      const wrongOrigin = routes.requests.checkOrigin(request);
      if (wrongOrigin) return sendFailure(reply, wrongOrigin);
      const slow = routes.failures.waiting(request.ip);
      if (slow !== undefined) {
        return routes.tooMany(reply, "failed authentications from this address", slow);
      }
      const invited = await signIn.invited(request.query.token);
      if (invited) {
        const { name, email, isOwner, roles } = invited.user;
        const { invitedBy } = invited;
        return reply.send({ name, email, invitedBy, owner: isOwner, roles, providers });
      }
      routes.failures.take(request.ip);
      return sendFailure(reply, invitationOver);
    },
  );

  app.post<{ Body: Static<typeof AcceptBody> }>(
    "/session/invitation",
    {
      config: { ownRateLimit: true },
      schema: { hide: true, querystring: noQuery, body: AcceptBody },
    },
    async (request, reply) => {
      const wrongOrigin = routes.requests.checkOrigin(request);
      if (wrongOrigin) return sendFailure(reply, wrongOrigin);
      const invited = await signIn.invited(request.body.token);
      return routes.attempt(request, reply, {
        // Tokens are guessed by nobody; the code of a second factor could be.
        account: invited?.user.hasSecondFactor ? invited.user.id : undefined,
        async work() {
          const earlier = await routes.sessionOf(request);
          const accepted = await signIn.accept(request.body, placeOf(request), earlier);
          if (accepted.ok) {
            const { userId, method } = accepted.value;
            routes.audit(request, "began", "accepted an invitation", { userId, method });
          }
          return accepted;
        },
      });
    },
  );
};
