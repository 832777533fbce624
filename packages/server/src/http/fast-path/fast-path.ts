// Lets the requests that are made most pass by the framework.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Overload } from "../load/overload.ts";

/** Gives false, and has touched nothing, when the request is not for it. It came at this time of the monotonic clock. */
export type FastPath = (request: IncomingMessage, response: ServerResponse, at: number) => boolean;

/** The fast paths are asked in their order; what none of them takes goes to the framework, which listens to the server. */
export const openFastPaths = (
  server: Server,
  now: () => number,
  overload: Pick<Overload, "check">,
  fastPaths: readonly FastPath[],
): void => {
  const framework = server.listeners("request");
  server.removeAllListeners("request").on("request", (request, response) => {
    const at = now();
    if (overload.check(request, at) === undefined) {
      for (const take of fastPaths) if (take(request, response, at)) return;
    }
    for (const listener of framework) listener.call(server, request, response);
  });
};
