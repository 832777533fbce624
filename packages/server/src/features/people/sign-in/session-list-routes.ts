// /session/list: where a person is signed in, and ending it.
import type { FastifyInstance } from "fastify";
import { sendFailure } from "../../../platform/http/errors/error-reply.ts";
import { noQuery } from "../../../platform/http/openapi/schemas.ts";
import type { PersonRoutes } from "./person-routes.ts";

export const sessionListRoutes = (app: FastifyInstance, routes: PersonRoutes): void => {
  const { sessions, audit } = routes;

  app.get("/session/list", { schema: { hide: true, querystring: noQuery } }, (request, reply) =>
    routes.asPerson(request, reply, async (session) => {
      const all = await sessions.list(session.userId);
      return reply.send(
        all.map(({ id, method, address, agent, createdAt, usedAt }) => ({
          id,
          current: id === session.id,
          method,
          address,
          agent,
          createdAt: createdAt.toISOString(),
          usedAt: usedAt.toISOString(),
        })),
      );
    }),
  );

  app.delete<{ Params: { id: string } }>(
    "/session/list/:id",
    { schema: { hide: true, querystring: noQuery } },
    (request, reply) =>
      routes.asPerson(request, reply, async ({ userId, id: own }) => {
        const { id } = request.params;
        const all = await sessions.list(userId);
        if (!all.some((each) => each.id === id)) {
          return sendFailure(reply, {
            code: "NOT_FOUND",
            message: `The session "${id}" does not exist.`,
          });
        }
        await sessions.endOne(userId, id);
        audit(request, "ended", "ended a session", { userId, session: id });
        if (id === own) routes.requests.clear(reply);
        return reply.code(204).send();
      }),
  );

  app.delete("/session/list", { schema: { hide: true, querystring: noQuery } }, (request, reply) =>
    routes.asPerson(
      request,
      reply,
      async (session) => {
        await sessions.endOthers(session);
        audit(request, "ended", "ended all other sessions", { userId: session.userId });
        return reply.code(204).send();
      },
      // An environment may have this name.
      () => routes.leave(request, reply, "list"),
    ),
  );
};
