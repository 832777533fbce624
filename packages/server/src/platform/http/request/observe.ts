// Sees every request: counts and times it, and writes the log lines about it.
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";
import type { HttpMeter, RouteMeter } from "../../telemetry/http-meter.ts";
import { createCappedLog } from "./capped-log.ts";
import { createFailureLog } from "./failure-log.ts";
import { whoOf } from "./who.ts";

export interface ObserveDependencies {
  readonly meter: HttpMeter;
  readonly log: FastifyBaseLogger;
  readonly now: () => number;
  readonly accessLog: boolean;
  /** Milliseconds from which on a request is logged. */
  readonly slowRequest: number;
}

export interface ObservedRoute {
  /** The pattern and never what was asked for: a client must not be able to make up names. */
  readonly pattern: string;
  /** Undefined when it stands for several. */
  readonly method: string | undefined;
  /** Set by its first request. */
  meter?: RouteMeter;
}

export interface Observer {
  /** To be called when the request comes. */
  began(request: FastifyRequest, reply: FastifyReply): void;
  /** To be called before the answer is sent: how long a client takes to read it says nothing of the server. */
  answered(request: FastifyRequest, status: number): void;
}

/** Of a path in the log: keys of flags are shorter. */
const longestPath = 300;

/** Without its query, which may hold a token. */
const pathOf = ({ url }: Pick<FastifyRequest, "url">): string =>
  url.split("?", 1)[0]?.slice(0, longestPath) ?? "";

/** Who only asks whether there is a session has tried nothing. */
const hasTried = ({ headers }: FastifyRequest): boolean =>
  headers.authorization !== undefined ||
  headers["x-api-key"] !== undefined ||
  headers.cookie !== undefined;

export const createObserver = (dependencies: ObserveDependencies): Observer => {
  const { log, meter, now, accessLog } = dependencies;
  const failures = createFailureLog(log, now);
  const slowTexts = ["slow request", "slow requests without a line of their own"] as const;
  // Those without a key do not take the lines of the others.
  const slow = {
    withKey: createCappedLog(log, now, slowTexts),
    withoutKey: createCappedLog(log, now, slowTexts),
  };
  // The access log has a line for every request anyway.
  const isSlowFrom = accessLog ? Number.POSITIVE_INFINITY : dependencies.slowRequest;

  const meterOf = (route: ObservedRoute, method: string): RouteMeter => {
    if (route.method === undefined) return meter.route(method, route.pattern);
    route.meter ??= meter.route(method, route.pattern);
    return route.meter;
  };

  const logAccess = (request: FastifyRequest, { raw }: FastifyReply, address: string): void => {
    log.info(
      {
        reqId: request.id,
        method: request.method,
        route: request.route.pattern,
        path: pathOf(request),
        ...(raw.headersSent && { status: raw.statusCode }),
        // The client did not wait for the end.
        ...(!raw.writableFinished && { left: true }),
        milliseconds: Math.round(now() - request.startedAt),
        address,
        ...whoOf(request),
      },
      "request",
    );
  };

  return {
    began(request, reply) {
      if (!accessLog) return;
      // Asked for now: a connection that is gone has none.
      const { ip: address } = request;
      // Once the connection is done with it: a stream has its line when it has ended.
      reply.raw.once("close", () => logAccess(request, reply, address));
    },

    answered(request, status) {
      const { route, method } = request;
      if (status === 401 && hasTried(request)) failures.failed(request, route.pattern);
      if (status === 403) failures.forbidden(request, route.pattern);
      const milliseconds = now() - request.startedAt;
      meterOf(route, method).done(status, milliseconds);
      if (milliseconds < isSlowFrom) return;
      slow[request.auth ? "withKey" : "withoutKey"].warn(() => ({
        reqId: request.id,
        method,
        route: route.pattern,
        path: pathOf(request),
        status,
        milliseconds: Math.round(milliseconds),
        address: request.ip,
        ...whoOf(request),
      }));
    },
  };
};
