// For load balancers and supervisors: is the process alive, and can it answer requests.

import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { sendFailure } from "../errors/error-reply.ts";
import { openAnswers } from "../openapi/describe.ts";
import { closedObject } from "../openapi/schemas.ts";
import { Type } from "../openapi/type.ts";

const Status = closedObject({ status: Type.String() });

export interface Readiness {
  /** Throws when requests could not be answered now. */
  readonly check: () => Promise<void>;
  /** Whether the server is about to stop, and still answers. */
  readonly isLeaving: () => boolean;
}

export const healthRoutes = (
  app: FastifyInstance,
  { check, isLeaving }: Readiness,
  log: Pick<FastifyBaseLogger, "error">,
): void => {
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
      if (isLeaving()) {
        return sendFailure(reply, {
          code: "UNAVAILABLE",
          message: "The server is about to stop; send it no new requests.",
        });
      }
      try {
        await check();
      } catch (error) {
        log.error({ reqId: request.id, err: error }, "not ready");
        return sendFailure(reply, {
          code: "UNAVAILABLE",
          message: "The store cannot be used just now.",
        });
      }
      return { status: "ready" };
    },
  );
};
