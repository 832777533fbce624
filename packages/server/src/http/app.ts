// The HTTP server: Fastify, the hooks that every request passes, and the one error handler.
import {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from "fastify";
import type { KeyTable } from "../access/key-table.ts";
import type { Role } from "../domain/principal.ts";
import type { Failure } from "../errors.ts";
import type { UsageReport } from "../evaluation/usage-report.ts";
import type { ApiKeys } from "../management/api-keys.ts";
import type { Deliveries } from "../management/deliveries.ts";
import type { Flags } from "../management/flags.ts";
import type { History } from "../management/history.ts";
import type { Webhooks } from "../management/webhooks.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import { deliveryRoutes } from "./api/deliveries.ts";
import { DeliverySchema } from "./api/delivery-schema.ts";
import { flagRoutes } from "./api/flags.ts";
import { historyRoutes } from "./api/history.ts";
import { keyRoutes } from "./api/keys.ts";
import { replayRoutes } from "./api/replay.ts";
import { snapshotRoutes } from "./api/snapshot.ts";
import { type StreamDependencies, streamRoutes } from "./api/stream.ts";
import { usageRoutes } from "./api/usage.ts";
import { webhookRoutes } from "./api/webhooks.ts";
import { type AuthContext, createKeyCheck } from "./auth/authenticate.ts";
import { createRateLimit, unlimited } from "./auth/rate-limit.ts";
import { requireKeys } from "./auth/require-keys.ts";
import { type DashboardDependencies, openDashboard } from "./dashboard/dashboard.ts";
import { handleBrokenConnection, trackResponse } from "./errors/broken-connection.ts";
import { handleError } from "./errors/error-handler.ts";
import { sendFailure, statusOf } from "./errors/error-reply.ts";
import { isJsonCharset, parseJsonBody } from "./errors/json-body.ts";
import { collectPaths } from "./errors/known-paths.ts";
import { compileValidator } from "./errors/validation.ts";
import { createEvaluationLane } from "./fast-path/evaluation.ts";
import { takeShortWays, usualWay } from "./fast-path/fast-path.ts";
import { createReadingLane } from "./fast-path/reads.ts";
import type { Overload } from "./load/overload.ts";
import { type RefetchDependencies, refetchRoutes } from "./ofrep/events-route.ts";
import { type EvaluationDependencies, evaluationRoutes } from "./ofrep/routes.ts";
import { ErrorBody } from "./openapi/describe.ts";
import { describeApi } from "./openapi/openapi.ts";
import { FlagSchema, WebhookSchema } from "./openapi/schemas.ts";
import { healthRoutes, type Readiness } from "./operations/health.ts";
import { type MetricsDependencies, metricsRoute } from "./operations/metrics.ts";
import { answerPreflights } from "./request/cors.ts";
import { requestIdOf } from "./request/request-id.ts";
import { withLateChildren } from "./request/request-log.ts";
import { traceRequests } from "./request/trace-requests.ts";
import { type WatchDependencies, watchRequests } from "./request/watch-requests.ts";
import { createEventStreams, type StreamSettings } from "./streams/event-streams.ts";

export const maxBodyBytes = 256 * 1_024;

export interface AppDependencies
  extends Omit<
      StreamDependencies & RefetchDependencies & EvaluationDependencies,
      "streams" | "counts"
    >,
    Omit<WatchDependencies & MetricsDependencies, "failures"> {
  readonly keyTable: Pick<KeyTable, "onRevoked">;
  readonly usage: UsageReport;
  /** Requests a minute for each key, evaluation aside; 0 for no limit. */
  readonly rateLimit: number;
  /** Failed authentications a minute for each address; 0 for no limit. */
  readonly authFailureLimit: number;
  readonly streams: StreamSettings;
  /** Undefined unless the operator has loaded an SDK for traces. */
  readonly tracing: Tracing | undefined;
  readonly flags: Flags;
  readonly history: History;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly keys: ApiKeys;
  readonly readiness: Readiness;
  /** Undefined when there is to be none. */
  readonly dashboard: DashboardDependencies | undefined;
  readonly overload: Overload;
  readonly trustProxy: boolean | string;
  readonly requestTimeout: number;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** The least role that may use the route; every route under /api/v1 names one. */
    role?: Role;
    /** Evaluation: the limit on requests of a key does not count it. */
    unlimited?: boolean;
  }
  interface FastifyRequest {
    auth: AuthContext;
  }
}

export const createApp = async (dependencies: AppDependencies): Promise<FastifyInstance> => {
  const app = fastify({
    loggerInstance: withLateChildren(dependencies.log),
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: maxBodyBytes,
    requestTimeout: dependencies.requestTimeout,
    http: {
      headersTimeout: dependencies.requestTimeout,
      // Asked for below: Node would refuse the request with an empty body.
      requireHostHeader: false,
      // How soon after the timeout a slow client is really cut off.
      connectionsCheckingInterval: Math.min(1_000, dependencies.requestTimeout),
    },
    keepAliveTimeout: 72_000,
    routerOptions: { maxParamLength: 4_096 },
    trustProxy: dependencies.trustProxy,
    genReqId: requestIdOf,
    return503OnClosing: false,
    forceCloseConnections: "idle",
    clientErrorHandler: handleBrokenConnection,
    frameworkErrors: (_error, request, reply) => {
      dependencies.meter.route(request.method, "none").done(statusOf.VALIDATION_FAILED, 0);
      sendFailure(withCommonHeaders(request, reply), {
        code: "VALIDATION_FAILED",
        message: "The path is not valid: check its percent-encoding and its length.",
      });
    },
  });

  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  for (const schema of [FlagSchema, WebhookSchema, DeliverySchema, ErrorBody])
    app.addSchema(schema);

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => {
    if (!isJsonCharset(request.headers["content-type"])) {
      done(Object.assign(new Error(), { code: "FST_ERR_CTP_INVALID_MEDIA_TYPE" }));
      return;
    }
    try {
      done(null, body.length === 0 ? undefined : parseJsonBody(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });

  const { tracing } = dependencies;
  if (tracing) traceRequests(app, tracing);
  watchRequests(app, dependencies);

  const streams = createEventStreams(dependencies.streams, dependencies.meter.streams);
  const stopKeys = dependencies.keyTable.onRevoked(streams.endOf);

  let closing = false;
  app.addHook("preClose", async () => {
    closing = true;
    stopKeys();
    streams.close();
  });
  // What was asked before the shutdown is answered, and its connection not kept.
  app.addHook("onSend", (_request, reply, payload, done) => {
    if (closing) reply.header("connection", "close");
    done(null, payload);
  });

  const paths = collectPaths(app);
  /** What is wrong with a request whatever it asks for. */
  const troubleWith = (request: FastifyRequest, reply: FastifyReply): Failure | undefined => {
    if (closing) {
      return { code: "UNAVAILABLE", message: "The server is shutting down; try again." };
    }
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") {
      return { code: "VALIDATION_FAILED", message: "The request has no Host header." };
    }
    if (!request.is404) return undefined;
    const allowed = paths.methodsOf(request.url.replace(/\?.*$/s, ""));
    if (allowed.length === 0) return nothingHere;
    reply.header("allow", allowed.join(", "));
    return {
      code: "METHOD_NOT_ALLOWED",
      message: `${request.method} is not allowed here; allowed: ${allowed.join(", ")}.`,
    };
  };
  // With a callback: a promise for each request would cost more than all that is done here.
  app.addHook("onRequest", (request, reply, done) => {
    trackResponse(request.raw.socket, reply.raw);
    withCommonHeaders(request, reply);
    const trouble = troubleWith(request, reply);
    if (trouble) sendFailure(reply, trouble);
    else done();
  });

  // Reached by a route that finds nothing of its own, such as a file that is not there.
  app.setNotFoundHandler((_request, reply) => sendFailure(reply, nothingHere));
  // An expectation that we do not know is passed over: Node would refuse it with an empty body.
  app.server.on("checkExpectation", (request, response) => {
    app.server.emit("request", request, response);
  });

  app.setErrorHandler(handleError);

  const { keyCache, now, rateLimit } = dependencies;
  const perKey = createRateLimit(rateLimit, now);
  const counts = dependencies.meter.evaluations;
  // Past the framework nobody sees a request as a whole.
  const isSeenWhole = tracing !== undefined || dependencies.accessLog;
  const isClosing = () => closing;
  const lane = {
    ...dependencies,
    counts,
    perKey,
    requestIdOf,
    commonHeaders,
    isClosing,
    maxBodyBytes,
  };
  const serve = isSeenWhole
    ? usualWay(app.server)
    : takeShortWays(app.server, createEvaluationLane(lane), createReadingLane(lane));
  dependencies.overload.guard(app.server, { serve, requestIdOf, commonHeaders });

  const failures = createRateLimit(dependencies.authFailureLimit, now);
  const keyCheck = createKeyCheck(keyCache, failures);
  const { authenticate } = keyCheck;
  const forPage = dependencies.dashboard
    ? openDashboard(app, { ...dependencies, ...dependencies.dashboard, keyCheck, failures })
    : authenticate;
  await describeApi(app);
  await app.register(async (open) => healthRoutes(open, dependencies.readiness));
  metricsRoute(app, { ...dependencies, failures });
  await app.register(async (open) => refetchRoutes(open, { ...dependencies, streams }), {
    prefix: "/ofrep/v1",
  });
  await app.register(
    async (api) => {
      requireKeys(api, { keyCache, authenticate: forPage, perKey });
      flagRoutes(api, dependencies.flags);
      historyRoutes(api, dependencies.history);
      webhookRoutes(api, dependencies.webhooks);
      deliveryRoutes(api, dependencies.deliveries);
      replayRoutes(api, dependencies.deliveries);
      keyRoutes(api, dependencies.keys);
      streamRoutes(api, { ...dependencies, streams });
      snapshotRoutes(api, dependencies);
      usageRoutes(api, dependencies.usage);
    },
    { prefix: "/api/v1" },
  );
  for (const path of ["/ofrep/v1/evaluate/flags", "/ofrep/v1/evaluate/flags/:key"]) {
    answerPreflights(app, path, ["POST"]);
  }
  answerPreflights(app, "/api/v1/usage", ["POST"]);
  await app.register(
    async (api) => {
      requireKeys(api, { keyCache, authenticate, perKey: unlimited });
      evaluationRoutes(api, { ...dependencies, counts });
    },
    { prefix: "/ofrep/v1" },
  );
  return app;
};

const nothingHere: Failure = {
  code: "NOT_FOUND",
  message: "There is nothing at this path; /docs lists what there is.",
};

const commonHeaders = {
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
} as const;
/** For what a browser could show as a page. On the JSON of the API they would say nothing, and cost each answer time. */
const pageGuards = { "x-frame-options": "DENY", "referrer-policy": "no-referrer" } as const;

const withCommonHeaders = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  if (!/^\/(api|ofrep)\//.test(request.url)) reply.headers(pageGuards);
  return reply.header("x-request-id", request.id).headers(commonHeaders);
};
