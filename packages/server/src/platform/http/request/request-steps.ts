// What each request passes before it reaches the framework, in the order of the steps.
import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Responds to a request, or passes it on. */
export type RequestStep = (
  request: IncomingMessage,
  response: ServerResponse,
  next: () => void,
) => void;

/** Puts the steps before the request listeners that the server has. To be called once, when it has all of them. */
export const addRequestSteps = (server: Server, steps: readonly RequestStep[]): void => {
  const listeners = server.listeners("request");
  const serve = steps.reduceRight<(request: IncomingMessage, response: ServerResponse) => void>(
    (next, step) => (request, response) => step(request, response, () => next(request, response)),
    (request, response) => {
      for (const listener of listeners) listener.call(server, request, response);
    },
  );
  server.removeAllListeners("request").on("request", serve);
};
