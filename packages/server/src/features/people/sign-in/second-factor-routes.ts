// /session/second-factor and /session/recovery-codes.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import type { Failure } from "../../../platform/errors.ts";
import { sendFailure } from "../../../platform/http/errors/error-reply.ts";
import { noQuery } from "../../../platform/http/openapi/schemas.ts";
import { Code } from "./password-routes.ts";
import type { PersonRoutes, PersonSession } from "./person-routes.ts";
import type { SecondFactors } from "./second-factors.ts";

const CodeBody = Type.Object({ code: Code }, { additionalProperties: false });

/** Whoever came by a provider has shown no code. */
const withCode: Failure = {
  code: "SIGN_IN_AGAIN",
  message: "This needs a fresh sign-in with your password and a code of your second factor.",
};

export const secondFactorRoutes = (
  app: FastifyInstance,
  routes: PersonRoutes,
  secondFactors: SecondFactors,
): void => {
  const { audit } = routes;

  /** While the second factor is on, a fresh sign-in with a password was one with a code. */
  const asProven = (
    request: FastifyRequest,
    reply: FastifyReply,
    next: (session: PersonSession) => Promise<FastifyReply>,
    otherwise?: () => Promise<FastifyReply>,
  ): Promise<FastifyReply> =>
    routes.asFreshPerson(
      request,
      reply,
      async (session) =>
        session.method === "password" ? next(session) : sendFailure(reply, withCode),
      otherwise,
    );

  app.post(
    "/session/second-factor",
    { config: { ownRateLimit: true }, schema: { hide: true, querystring: noQuery } },
    (request, reply) =>
      routes.asFreshPerson(request, reply, async ({ userId }) => {
        const begun = await secondFactors.begin(userId);
        return begun.ok ? reply.send(begun.value) : sendFailure(reply, begun.failure);
      }),
  );

  app.put<{ Body: Static<typeof CodeBody> }>(
    "/session/second-factor",
    {
      config: { ownRateLimit: true },
      schema: { hide: true, querystring: noQuery, body: CodeBody },
    },
    (request, reply) =>
      routes.asFreshPerson(request, reply, async (session) => {
        const { userId } = session;
        const wait = routes.attempts.begin(userId, request.ip);
        if (wait !== undefined) return routes.tooMany(reply, "codes", wait);
        const on = await secondFactors.turnOn(userId, session, request.body.code);
        if (!on.ok) return sendFailure(reply, on.failure);
        routes.attempts.succeeded(userId, request.ip);
        audit(request, "second-factor-on", "turned the second factor on", { userId });
        routes.requests.write(reply, on.value.session);
        return reply.send({ recoveryCodes: on.value.recoveryCodes });
      }),
  );

  app.delete(
    "/session/second-factor",
    { config: { ownRateLimit: true }, schema: { hide: true, querystring: noQuery } },
    (request, reply) =>
      asProven(
        request,
        reply,
        async (session) => {
          const { userId } = session;
          const off = await secondFactors.turnOff(userId, session);
          if (!off.ok) return sendFailure(reply, off.failure);
          audit(request, "second-factor-off", "turned the second factor off", { userId });
          routes.requests.write(reply, off.value);
          return reply.code(204).send();
        },
        // An environment may have this name.
        () => routes.leave(request, reply, "second-factor"),
      ),
  );

  app.post(
    "/session/recovery-codes",
    { config: { ownRateLimit: true }, schema: { hide: true, querystring: noQuery } },
    (request, reply) =>
      asProven(request, reply, async ({ userId }) => {
        const codes = await secondFactors.newRecoveryCodes(userId);
        if (!codes.ok) return sendFailure(reply, codes.failure);
        audit(request, "recovery-codes", "made new recovery codes", { userId });
        return reply.send({ recoveryCodes: codes.value });
      }),
  );
};
