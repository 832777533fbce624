// Lets the requests that are made most pass by the framework.
import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Gives false, and has touched nothing, when the request is not for it. */
export type Lane = (request: IncomingMessage, response: ServerResponse) => boolean;
export type HandOver = (request: IncomingMessage, response: ServerResponse) => void;

/** The lanes are asked in their order; what none of them takes goes to those who listened before. */
export const takeShortWays = (
  server: Server,
  open: (handOver: HandOver) => readonly [Lane, Lane],
): void => {
  const usual = server.listeners("request");
  const handOver: HandOver = (request, response) => {
    for (const listener of usual) listener.call(server, request, response);
  };
  const [first, second] = open(handOver);
  server.removeAllListeners("request").on("request", (request, response) => {
    if (!first(request, response) && !second(request, response)) handOver(request, response);
  });
};
