// Sees every request that goes through the framework: counts and times it, and logs what is to be logged of it.
import type { IncomingMessage } from "node:http";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { actorOf } from "../../domain/principal.ts";
import type { HttpMeter } from "../../telemetry/http-meter.ts";
import { withOrigin } from "../../telemetry/origin.ts";
import { createFailureLog } from "./failure-log.ts";

export interface WatchDependencies {
  readonly meter: HttpMeter;
  readonly log: FastifyBaseLogger;
  readonly now: () => number;
  readonly accessLog: boolean;
  /** Milliseconds from which on a request is logged; 0 for never. */
  readonly slowRequest: number;
}

declare module "fastify" {
  interface FastifyRequest {
    startedAt: number;
  }
}

/** The pattern of the route, and never what was asked for: a client must not be able to make up names. */
const routeOf = (request: FastifyRequest): string =>
  request.is404 ? "none" : (request.routeOptions.url ?? "none");

/** Without its query, which may hold a token. */
const pathOf = ({ url = "" }: { readonly url?: string | undefined }): string =>
  url.split("?", 1)[0]?.slice(0, longestPath) ?? "";
/** Of a path in the log: keys of flags are shorter. */
const longestPath = 300;

/** Who only asks whether there is a session has tried nothing. */
const hasTried = ({ headers }: FastifyRequest): boolean =>
  headers.authorization !== undefined ||
  headers["x-api-key"] !== undefined ||
  headers.cookie !== undefined;

const whoOf = ({ auth }: FastifyRequest): object =>
  auth ? { keyId: auth.principal.keyId, keyName: auth.principal.keyName } : {};

const logAccess = (
  request: FastifyRequest,
  { raw }: FastifyReply,
  address: string,
  now: number,
): void => {
  request.log.info(
    {
      method: request.method,
      route: routeOf(request),
      path: pathOf(request),
      ...(raw.headersSent && { status: raw.statusCode }),
      // The client did not wait for the end.
      ...(!raw.writableFinished && { left: true }),
      milliseconds: Math.round(now - request.startedAt),
      address,
      ...whoOf(request),
    },
    "request",
  );
};

/** To be called before any other hook is added. */
export const watchRequests = (app: FastifyInstance, dependencies: WatchDependencies): void => {
  const { meter, now, accessLog, slowRequest } = dependencies;
  const failures = createFailureLog(dependencies.log, now);
  app.decorateRequest("startedAt", 0);

  app.addHook("onRequest", (request, reply, done) => {
    request.startedAt = now();
    // Once the connection is done with it: a stream has its line when it has ended.
    if (accessLog) {
      // Asked for now: a connection that is gone has none.
      const { ip: address } = request;
      reply.raw.once("close", () => logAccess(request, reply, address, now()));
    }
    done();
  });

  // Whoever makes a change is told in the audit log, far from here.
  app.addHook("preHandler", (request, _reply, done) => {
    const { method, auth } = request;
    if (method === "GET" || method === "HEAD" || !auth) {
      done();
      return;
    }
    const actor = actorOf(auth.principal);
    withOrigin({ requestId: request.id, address: request.ip, actor }, done);
  });

  // Before the answer is sent: how long a client takes to read it says nothing of the server.
  app.addHook("onSend", (request, reply, payload, done) => {
    const milliseconds = now() - request.startedAt;
    const route = routeOf(request);
    const { method } = request;
    meter.route(method, route).done(reply.statusCode, milliseconds);
    if (reply.statusCode === 401 && hasTried(request)) failures.failed(request, route);
    if (slowRequest > 0 && milliseconds >= slowRequest && !accessLog) {
      request.log.warn(
        {
          method,
          route,
          path: pathOf(request),
          status: reply.statusCode,
          milliseconds: Math.round(milliseconds),
          address: request.ip,
          ...whoOf(request),
        },
        "slow request",
      );
    }
    done(null, payload);
  });
};

/** Counts one answer of a short way. */
export type LaneWatch = (
  request: IncomingMessage,
  requestId: string,
  status: number,
  startedAt: number,
) => void;

/** The same for the short ways, which go past all hooks. */
export const watchLane = (
  dependencies: WatchDependencies,
  method: string,
  route: string,
): LaneWatch => {
  const { log, now, slowRequest } = dependencies;
  const meter = dependencies.meter.route(method, route);
  const slow = slowRequest === 0 ? Number.POSITIVE_INFINITY : slowRequest;
  return (request, reqId, status, startedAt) => {
    const milliseconds = now() - startedAt;
    meter.done(status, milliseconds);
    if (milliseconds < slow) return;
    const path = pathOf(request);
    log.warn(
      { reqId, method, route, path, status, milliseconds: Math.round(milliseconds) },
      "slow request",
    );
  };
};
