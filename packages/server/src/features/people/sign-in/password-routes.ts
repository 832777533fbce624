// /session/password, /session/again and /session/ways: signing in as a person.
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { sendFailure } from "../../../platform/http/errors/error-reply.ts";
import { noQuery } from "../../../platform/http/openapi/schemas.ts";
import { emailKeyOf } from "../user.ts";
import type { PasswordSignIn } from "./password-sign-in.ts";
import { type PersonRoutes, placeOf } from "./person-routes.ts";

/** A provider that people can sign in with. */
export interface ProviderName {
  readonly id: string;
  readonly name: string;
}

export const Password = Type.String({ minLength: 1, maxLength: 1_000 });
export const Code = Type.String({ maxLength: 100 });

const SignInBody = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 320 }),
    password: Password,
    code: Type.Optional(Code),
  },
  { additionalProperties: false },
);
const AgainBody = Type.Object(
  { password: Password, code: Type.Optional(Code) },
  { additionalProperties: false },
);
const ChangeBody = Type.Object(
  { current: Password, password: Password },
  { additionalProperties: false },
);

export interface PasswordRouteDependencies {
  readonly signIn: PasswordSignIn;
  readonly hasPasswords: () => Promise<boolean>;
  readonly providers: readonly ProviderName[];
}

export const passwordRoutes = (
  app: FastifyInstance,
  routes: PersonRoutes,
  { signIn, hasPasswords, providers }: PasswordRouteDependencies,
): void => {
  const { audit } = routes;

  app.get(
    "/session/ways",
    { config: { ownRateLimit: true }, schema: { hide: true, querystring: noQuery } },
    async (request, reply) => {
      const wrongOrigin = routes.requests.checkOrigin(request);
      if (wrongOrigin) return sendFailure(reply, wrongOrigin);
      return reply.send({ password: await hasPasswords(), providers });
    },
  );

  app.post<{ Body: Static<typeof SignInBody> }>(
    "/session/password",
    {
      config: { ownRateLimit: true },
      schema: { hide: true, querystring: noQuery, body: SignInBody },
    },
    async (request, reply) => {
      const wrongOrigin = routes.requests.checkOrigin(request);
      if (wrongOrigin) return sendFailure(reply, wrongOrigin);
      const { email, password, code } = request.body;
      return routes.attempt(request, reply, {
        account: emailKeyOf(email.trim()),
        async work() {
          const earlier = await routes.sessionOf(request);
          const signedIn = await signIn.signIn(
            { email, password, code },
            placeOf(request),
            earlier,
          );
          if (signedIn.ok) {
            const { userId, method } = signedIn.value;
            audit(request, "began", "signed in", { userId, method });
          }
          return signedIn;
        },
      });
    },
  );

  app.post<{ Body: Static<typeof AgainBody> }>(
    "/session/again",
    {
      config: { ownRateLimit: true },
      schema: { hide: true, querystring: noQuery, body: AgainBody },
    },
    (request, reply) =>
      routes.asPerson(request, reply, (session) =>
        routes.attempt(request, reply, {
          account: session.userId,
          async work() {
            const signedIn = await signIn.again(session.userId, session, request.body);
            if (signedIn.ok)
              audit(request, "renewed", "signed in again", { userId: session.userId });
            return signedIn;
          },
        }),
      ),
  );

  app.put<{ Body: Static<typeof ChangeBody> }>(
    "/session/password",
    {
      config: { ownRateLimit: true },
      schema: { hide: true, querystring: noQuery, body: ChangeBody },
    },
    (request, reply) =>
      routes.asFreshPerson(request, reply, (session) =>
        routes.attempt(request, reply, {
          account: session.userId,
          async work() {
            const changed = await signIn.change(session.userId, session, request.body);
            if (changed.ok) {
              audit(request, "password-changed", "changed the password", {
                userId: session.userId,
              });
            }
            return changed;
          },
        }),
      ),
  );
};
