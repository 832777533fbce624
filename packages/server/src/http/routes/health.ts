// For load balancers and supervisors: is the process alive, and can it answer requests.
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { openAnswers } from "../describe.ts";
import { sendFailure } from "../error-reply.ts";

const Status = Type.Object({ status: Type.String() }, { additionalProperties: false });

export const healthRoutes = (app: FastifyInstance, checkReady: () => Promise<void>): void => {
  app.get(
    "/healthz",
    {
      schema: {
        tags: ["Health"],
        operationId: "health",
        summary: "Is the process alive?",
        response: openAnswers({
          200: { description: "It is.", schema: Status, example: { status: "ok" } },
        }),
      },
    },
    async () => ({ status: "ok" }),
  );

  app.get(
    "/readyz",
    {
      schema: {
        tags: ["Health"],
        operationId: "readiness",
        summary: "Can it answer requests now?",
        response: openAnswers(
          { 200: { description: "It can.", schema: Status, example: { status: "ready" } } },
          "UNAVAILABLE",
        ),
      },
    },
    async (request, reply) => {
      try {
        await checkReady();
      } catch (error) {
        request.log.error({ err: error }, "not ready");
        return sendFailure(reply, {
          code: "UNAVAILABLE",
          message: "The store cannot be used just now.",
        });
      }
      return { status: "ready" };
    },
  );
};
