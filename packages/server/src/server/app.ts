// The HTTP server: Fastify, the hooks that every request passes, and the one error handler.
import { type FastifyInstance, fastify } from "fastify";
import { type FlagdDependencies, flagdRoutes } from "../evaluation/flagd/routes.ts";
import { createDirect } from "../evaluation/ofrep/direct.ts";
import { type RefetchDependencies, refetchRoutes } from "../evaluation/ofrep/events-route.ts";
import { type EvaluationDependencies, evaluationRoutes } from "../evaluation/ofrep/routes.ts";
import { createEventStreams, type StreamSettings } from "../evaluation/streams/event-streams.ts";
import type { OpenStreams } from "../evaluation/streams/open-streams.ts";
import { manifestRoutes } from "../features/flags/manifest/routes.ts";
import {
  createUnknownPage,
  type DashboardDependencies,
  openDashboard,
} from "../features/people/sign-in/dashboard.ts";
import { createAttempts } from "../platform/auth/attempts.ts";
import type { KeyCheck } from "../platform/auth/authenticate.ts";
import type { KeyTable } from "../platform/auth/key-table.ts";
import { byNetwork, createRateLimit } from "../platform/auth/rate-limit.ts";
import { acceptSessions } from "../platform/auth/session-authenticate.ts";
import { createSessionRequests } from "../platform/auth/session-request.ts";
import type { Failure } from "../platform/errors.ts";
import {
  handleBrokenConnection,
  trackResponse,
} from "../platform/http/errors/broken-connection.ts";
import { createErrorHandler } from "../platform/http/errors/error-handler.ts";
import { sendFailure, statusOf } from "../platform/http/errors/error-reply.ts";
import { isJsonCharset, parseJsonBody } from "../platform/http/errors/json-body.ts";
import { schemaController } from "../platform/http/errors/validation.ts";
import { healthRoutes, type Readiness } from "../platform/http/health.ts";
import { addLifecycle } from "../platform/http/lifecycle.ts";
import { limitSending, serializePipelined } from "../platform/http/load/connections.ts";
import type { Overload } from "../platform/http/load/overload.ts";
import { type MetricsDependencies, metricsRoute } from "../platform/http/metrics.ts";
import { ErrorBody } from "../platform/http/openapi/describe.ts";
import { describeApi } from "../platform/http/openapi/openapi.ts";
import { requestIdOf, setCommonHeaders } from "../platform/http/request/common-headers.ts";
import { answerPreflights } from "../platform/http/request/cors.ts";
import { createObserver, type ObserveDependencies } from "../platform/http/request/observe.ts";
import { addRequestSteps } from "../platform/http/request/request-steps.ts";
import { traceRequests } from "../platform/http/request/trace-requests.ts";
import type { Tracing } from "../platform/telemetry/tracing.ts";
import { type McpDependencies, mcpRoutes } from "./mcp/routes.ts";
import { type ApiDependencies, apiRoutes, apiSchemas } from "./routes.ts";

export const maxBodyBytes = 256 * 1_024;

export interface AppDependencies
  extends Omit<
      ApiDependencies & RefetchDependencies & EvaluationDependencies,
      "streams" | "counts" | "sessions" | "direct"
    >,
    ObserveDependencies,
    MetricsDependencies,
    FlagdDependencies {
  readonly keyTable: Pick<KeyTable, "onEnded">;
  /** Requests a minute for each key, evaluation aside; 0 for no limit. */
  readonly rateLimit: number;
  readonly keyCheck: KeyCheck;
  /** Sign-ins, and reports of usage, a minute for each address; 0 for no limit. */
  readonly addressLimit: number;
  readonly streams: StreamSettings;
  readonly openStreams: OpenStreams;
  /** Undefined unless the operator has loaded an SDK for traces. */
  readonly tracing: Tracing | undefined;
  readonly readiness: Readiness;
  /** Undefined when there is to be none. */
  readonly dashboard: DashboardDependencies | undefined;
  /** Undefined when it is off. */
  readonly mcp: McpDependencies | undefined;
  readonly overload: Overload;
  readonly trustProxy: boolean | string;
  readonly requestTimeout: number;
  /** Milliseconds for which a client may read nothing of its answer. */
  readonly sendTimeout: number;
  readonly slowReadInterval: number | undefined;
}

export const createApp = async (dependencies: AppDependencies): Promise<FastifyInstance> => {
  const { log, tracing, keyCache, now, overload } = dependencies;
  const app = fastify({
    // It has no logger: a child and two listeners for each request would cost more than its hooks. Ours name the request.
    schemaController,
    bodyLimit: maxBodyBytes,
    requestTimeout: dependencies.requestTimeout,
    http: {
      // Here too: Node would compare the time for headers with its own.
      requestTimeout: dependencies.requestTimeout,
      headersTimeout: dependencies.requestTimeout,
      // Asked for below: Node would refuse the request with an empty body.
      requireHostHeader: false,
      // Of two headers Node would take the first, and a proxy perhaps the second.
      joinDuplicateHeaders: true,
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
      const { raw } = request;
      if (overload.isExcess(raw.socket)) reply.header("connection", "close");
      const kind = overload.check(raw, now());
      const shed = kind && overload.shed(kind);
      if (shed) reply.header("retry-after", String(shed.retryAfter));
      const failure = shed?.failure ?? badPath;
      dependencies.meter.route(request.method, "none").done(statusOf[failure.code], 0);
      sendFailure(setCommonHeaders(reply), failure);
    },
  });

  for (const schema of [...apiSchemas, ErrorBody]) app.addSchema(schema);

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

  const { openStreams } = dependencies;
  const streams = createEventStreams(dependencies.streams, openStreams, (err) =>
    log.error({ err }, "a stream could not be opened"),
  );
  app.addHook("onListen", async () => log.info(`Server listening at ${app.listeningOrigin}`));
  // An expectation that we do not know is passed over: Node would refuse it with an empty body.
  app.server.on("checkExpectation", (request, response) => {
    app.server.emit("request", request, response);
  });
  app.setErrorHandler(createErrorHandler(log, overload));

  const perKey = createRateLimit(dependencies.rateLimit, now);
  const { failures, keyCheck } = dependencies;
  const { authenticate } = keyCheck;
  const { dashboard, publicUrl } = dependencies;
  const requests = dashboard && createSessionRequests(dashboard.clock, publicUrl);
  const observer = createObserver(dependencies);

  overload.watch(app.server);
  // Each request passes these in their order, then Fastify's hooks: the name of its span, then the lifecycle.
  addRequestSteps(app.server, [
    serializePipelined(trackResponse),
    ...(tracing ? [traceRequests(app, tracing)] : []),
  ]);
  const isClosing = addLifecycle(app, {
    observer,
    overload,
    slowReadInterval: dependencies.slowReadInterval,
    now,
    keyCache,
    perKey,
    newLimits: () => ({
      perKey: createRateLimit(dependencies.rateLimit, now),
      perAddress: byNetwork(createRateLimit(dependencies.addressLimit, now)),
    }),
    authenticateKey: authenticate,
    authenticateApi:
      dashboard && requests
        ? acceptSessions(authenticate, { ...dashboard, keyCache, requests })
        : authenticate,
    sendUnknownPage: dashboard && createUnknownPage(dashboard),
  });

  const stopKeys = dependencies.keyTable.onEnded(openStreams.endOf);
  app.addHook("preClose", async () => {
    stopKeys();
    streams.close();
  });

  limitSending(app.server, dependencies.sendTimeout);

  if (dashboard && requests) {
    const attempts = createAttempts(now);
    openDashboard(app, {
      ...dashboard,
      ...{ keyCache, keyCheck, failures, attempts, perKey, requests, publicUrl, log },
    });
  }
  describeApi(app);
  await app.register(async (open) => healthRoutes(open, dependencies.readiness, log));
  metricsRoute(app, dependencies);
  if (dependencies.mcp) await mcpRoutes(app, dependencies.mcp, publicUrl);
  await app.register(async (open) => refetchRoutes(open, { ...dependencies, streams }), {
    prefix: "/ofrep/v1",
  });
  await app.register(
    async (api) => {
      requirePermissions(api);
      apiRoutes(api, { ...dependencies, streams, sessions: dashboard?.sessions });
    },
    { prefix: "/api/v1" },
  );
  await app.register(
    async (api) => {
      requirePermissions(api);
      manifestRoutes(api, dependencies);
    },
    { prefix: "/openfeature/v0" },
  );
  await app.register(
    async (api) => {
      requirePermissions(api);
      flagdRoutes(api, dependencies);
    },
    { prefix: "/flagd/v1" },
  );
  for (const path of ["", "/:key", "/*"]) {
    answerPreflights(app, `/ofrep/v1/evaluate/flags${path}`, ["POST"]);
  }
  answerPreflights(app, "/api/v1/usage", ["POST"], ["GET"]);
  await app.register(
    async (api) => {
      requirePermissions(api);
      const counts = dependencies.meter.evaluations;
      const direct = createDirect({ observer, keyCache, isClosing, maxBodyBytes });
      evaluationRoutes(api, { ...dependencies, counts, direct });
    },
    { prefix: "/ofrep/v1" },
  );
  return app;
};

const badPath: Failure = {
  code: "VALIDATION_FAILED",
  message: "The path is not valid: check its percent-encoding and its length.",
};

/** So that no route is left without a check of the key by mistake. */
const requirePermissions = (api: FastifyInstance): void => {
  api.addHook("onRoute", ({ config, url }) => {
    if (!config?.permission) throw new Error(`The route ${url} names no permission.`);
  });
};
