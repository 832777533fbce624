// For load balancers and supervisors: is the process alive, and can it answer requests.

import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { Type } from "typebox";
import { sendFailure } from "./errors/error-reply.ts";
import { openAnswers } from "./openapi/describe.ts";
import { closedObject } from "./openapi/schemas.ts";

const Status = closedObject({ status: Type.String() });

export interface Readiness {
  /** Throws when requests could not be answered now. */
  readonly check: () => Promise<void>;
  /** Whether the server is about to stop, and still answers. */
  readonly isLeaving: () => boolean;
}

/** Milliseconds for which an answer of the store is good: many may ask, and none of them is to cost the store anything. */
const goodFor = 1_000;

/** Asks once for all who want to know at the same time, and in the second after. */
const createReadyCheck = (
  check: () => Promise<void>,
  log: Pick<FastifyBaseLogger, "error">,
): ((reqId: string) => Promise<boolean>) => {
  let answer: Promise<boolean> | undefined;
  return (reqId) => {
    answer ??= check()
      .then(
        () => true,
        (err: unknown) => {
          log.error({ reqId, err }, "not ready");
          return false;
        },
      )
      .finally(() => {
        setTimeout(() => {
          answer = undefined;
        }, goodFor).unref();
      });
    return answer;
  };
};

export const healthRoutes = (
  app: FastifyInstance,
  { check, isLeaving }: Readiness,
  log: Pick<FastifyBaseLogger, "error">,
): void => {
  const isReady = createReadyCheck(check, log);
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
      if (await isReady(request.id)) return { status: "ready" };
      return sendFailure(reply, {
        code: "UNAVAILABLE",
        message: "The store is unavailable.",
      });
    },
  );
};
