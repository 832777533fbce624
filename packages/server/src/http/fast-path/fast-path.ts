// Lets the requests that are made most pass by the framework.
import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** Serves a request whose turn has come at this time of the monotonic clock. */
export type Handle = (request: IncomingMessage, response: ServerResponse, at: number) => void;
/** Gives false, and has touched nothing, when the request is not for it. */
export type Lane = (request: IncomingMessage, response: ServerResponse, at: number) => boolean;

/** The lanes are asked in their order; what none of them takes goes to those who listen to the server. */
export const takeShortWays = (server: Server, first: Lane, second: Lane): Handle => {
  const usual = usualWay(server);
  return (request, response, at) => {
    if (!first(request, response, at) && !second(request, response, at)) {
      usual(request, response, at);
    }
  };
};

/** To those who listen to the server now. */
export const usualWay = (server: Server): Handle => {
  const listeners = server.listeners("request");
  return (request, response) => {
    for (const listener of listeners) listener.call(server, request, response);
  };
};
