// A span for every request, when the operator has loaded an SDK for it.
import type { IncomingMessage } from "node:http";
import type { FastifyInstance } from "fastify";
import type { RequestSpan, Tracing } from "../../telemetry/tracing.ts";
import type { RequestStep } from "./request-steps.ts";

const headOf = (request: IncomingMessage) => {
  const { method = "", url = "", headers, httpVersion } = request;
  const agent = headers["user-agent"];
  return {
    method,
    headers,
    attributes: {
      "http.request.method": method,
      // Without its query, which may hold a token.
      "url.path": url.split("?", 1)[0] ?? "",
      "url.scheme": "http",
      "network.protocol.version": httpVersion,
      ...(headers.host !== undefined && { "server.address": headers.host.replace(/:\d+$/, "") }),
      ...(agent !== undefined && { "user_agent.original": agent }),
    },
  };
};

/** Adds a hook that names the span by its route. */
export const traceRequests = (app: FastifyInstance, tracing: Tracing): RequestStep => {
  const spans = new WeakMap<IncomingMessage, RequestSpan>();

  app.addHook("onRequest", (request, _reply, done) => {
    const { url } = request.routeOptions;
    if (!request.is404 && url !== undefined) spans.get(request.raw)?.named(url);
    done();
  });

  return (request, response, next) => {
    const span = tracing.request(headOf(request));
    spans.set(request, span);
    response.once("close", () => span.end(response.statusCode));
    span.run(next);
  };
};
