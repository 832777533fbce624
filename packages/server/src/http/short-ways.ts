// Lets the requests that are made most pass by the framework.
import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Gives false, and has touched nothing, when the request is not for it. */
export type Lane = (request: IncomingMessage, response: ServerResponse) => boolean;

/** The lanes are asked in their order; what none of them takes goes to those who listened before. */
export const takeShortWays = (server: Server, first: Lane, second: Lane): void => {
  const usual = server.listeners("request");
  server.removeAllListeners("request").on("request", (request, response) => {
    if (first(request, response) || second(request, response)) return;
    for (const listener of usual) listener.call(server, request, response);
  });
};
