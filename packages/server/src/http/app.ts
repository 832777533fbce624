// The HTTP server: Fastify, the hooks that every request passes, and the one error handler.
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from "fastify";
import type { Role } from "../domain/principal.ts";
import { type Failure, StoreUnavailable } from "../errors.ts";
import type { ApiKeys } from "../management/api-keys.ts";
import type { Deliveries } from "../management/deliveries.ts";
import type { Flags } from "../management/flags.ts";
import type { History } from "../management/history.ts";
import type { Webhooks } from "../management/webhooks.ts";
import { type Caller, createAuthenticate } from "./authenticate.ts";
import { handleBrokenConnection, rememberAnswer } from "./broken-connection.ts";
import { DeliverySchema } from "./delivery-schema.ts";
import { ErrorBody } from "./describe.ts";
import { sendFailure } from "./error-reply.ts";
import { BadJson, parseJsonBody } from "./json-body.ts";
import { describeApi } from "./openapi.ts";
import { createRateLimit } from "./rate-limit.ts";
import { deliveryRoutes } from "./routes/deliveries.ts";
import { flagRoutes } from "./routes/flags.ts";
import { healthRoutes } from "./routes/health.ts";
import { historyRoutes } from "./routes/history.ts";
import { keyRoutes } from "./routes/keys.ts";
import { replayRoutes } from "./routes/replay.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import { FlagSchema, WebhookSchema } from "./schemas.ts";
import { compileValidator, validationFailure } from "./validation.ts";

export const maxBodyBytes = 256 * 1_024;

export interface AppNeeds {
  readonly log: FastifyBaseLogger;
  readonly flags: Flags;
  readonly history: History;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly keys: ApiKeys;
  /** Throws when requests could not be answered now. */
  readonly checkReady: () => Promise<void>;
  readonly now: () => number;
  readonly rateLimit: number;
  readonly authFailureLimit: number;
  readonly trustProxy: boolean | string;
  readonly requestTimeout: number;
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** The least role that may use the route; every route under /api/v1 names one. */
    role?: Role;
  }
  interface FastifyRequest {
    caller: Caller;
  }
}

export const createApp = async (needs: AppNeeds): Promise<FastifyInstance> => {
  const app = fastify({
    loggerInstance: needs.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: maxBodyBytes,
    requestTimeout: needs.requestTimeout,
    http: {
      headersTimeout: needs.requestTimeout,
      // Asked for below: Node would refuse the request with an empty body.
      requireHostHeader: false,
      // How soon after the timeout a slow client is really cut off.
      connectionsCheckingInterval: Math.min(1_000, needs.requestTimeout),
    },
    keepAliveTimeout: 72_000,
    routerOptions: { maxParamLength: 4_096 },
    trustProxy: needs.trustProxy,
    genReqId: (request) => {
      const given = request.headers["x-request-id"];
      return typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : newRequestId();
    },
    return503OnClosing: false,
    forceCloseConnections: "idle",
    clientErrorHandler: handleBrokenConnection,
    frameworkErrors: (_error, request, reply) => {
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
    const charset = /;\s*charset="?([^";\s]+)/i.exec(request.headers["content-type"] ?? "")?.[1];
    if (charset !== undefined && charset.toLowerCase() !== "utf-8") {
      done(Object.assign(new Error(), { code: "FST_ERR_CTP_INVALID_MEDIA_TYPE" }));
      return;
    }
    try {
      done(null, body.length === 0 ? undefined : parseJsonBody(body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });

  let closing = false;
  app.addHook("preClose", async () => {
    closing = true;
  });
  // What was asked before the shutdown is answered, and its connection not kept.
  app.addHook("onSend", async (_request, reply) => {
    if (closing) reply.header("connection", "close");
  });

  const paths = collectPaths(app);
  app.addHook("onRequest", async (request, reply) => {
    rememberAnswer(request.raw.socket, reply.raw);
    withCommonHeaders(request, reply);
    if (closing) {
      return sendFailure(reply, {
        code: "UNAVAILABLE",
        message: "The server is shutting down; try again.",
      });
    }
    if (request.raw.httpVersion === "1.1" && request.headers.host === undefined) {
      return sendFailure(reply, {
        code: "VALIDATION_FAILED",
        message: "The request has no Host header.",
      });
    }
    if (!request.is404) return undefined;
    const path = request.url.replace(/\?.*$/s, "");
    const allowed = paths.methodsOf(path);
    if (allowed.length === 0) {
      return sendFailure(reply, nothingHere);
    }
    reply.header("allow", allowed.join(", "));
    return sendFailure(reply, {
      code: "METHOD_NOT_ALLOWED",
      message: `${request.method} is not allowed here; allowed: ${allowed.join(", ")}.`,
    });
  });

  // Reached by a route that finds nothing of its own, such as a file that is not there.
  app.setNotFoundHandler((_request, reply) => sendFailure(reply, nothingHere));
  // An expectation that we do not know is passed over: Node would refuse it with an empty body.
  app.server.on("checkExpectation", (request, response) => {
    app.server.emit("request", request, response);
  });

  app.setErrorHandler<
    Error & { code?: string; validation?: unknown; validationContext?: string; statusCode?: number }
  >((error, request, reply) => {
    if (error.validation) {
      const part = error.validationContext === "querystring" ? "querystring" : "body";
      return sendFailure(
        reply,
        validationFailure(error.validation as Parameters<typeof validationFailure>[0], part),
      );
    }
    if (error instanceof BadJson) {
      return sendFailure(reply, { code: "VALIDATION_FAILED", message: error.message });
    }
    if (error instanceof StoreUnavailable) {
      request.log.error({ err: error }, "the store cannot be used");
      return sendFailure(reply, {
        code: "UNAVAILABLE",
        message: "The store cannot be used just now; try again.",
      });
    }
    if (error.code === "FST_ERR_CTP_BODY_TOO_LARGE") {
      reply.header("connection", "close");
      return sendFailure(reply, {
        code: "PAYLOAD_TOO_LARGE",
        message: "The body is larger than 256 KiB.",
      });
    }
    if (error.code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
      return sendFailure(reply, {
        code: "UNSUPPORTED_MEDIA_TYPE",
        message: "The body must be JSON, sent with Content-Type: application/json.",
      });
    }
    if (error.statusCode !== undefined && error.statusCode < 500) {
      return sendFailure(reply, { code: "VALIDATION_FAILED", message: `${error.message}.` });
    }
    request.log.error({ err: error }, "a request failed");
    return sendFailure(reply, {
      code: "INTERNAL",
      message: `Something went wrong here, not with your request. The log has more under the request id ${request.id}.`,
    });
  });

  await describeApi(app);
  await app.register(async (open) => healthRoutes(open, needs.checkReady));
  await app.register(
    async (api) => {
      requireKeys(api, needs);
      flagRoutes(api, needs.flags);
      historyRoutes(api, needs.history);
      webhookRoutes(api, needs.webhooks);
      deliveryRoutes(api, needs.deliveries);
      replayRoutes(api, needs.deliveries);
      keyRoutes(api, needs.keys);
    },
    { prefix: "/api/v1" },
  );
  return app;
};

const nothingHere: Failure = {
  code: "NOT_FOUND",
  message: "There is nothing at this path; /docs lists what there is.",
};

const withCommonHeaders = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply
    .header("x-request-id", request.id)
    .header("x-content-type-options", "nosniff")
    .header("cache-control", "no-store");

let requests = 0;
const processTag = Math.random().toString(36).slice(2, 8);
const newRequestId = (): string => {
  requests += 1;
  return `req-${processTag}-${requests.toString(36)}`;
};

/** Everything under this scope asks for a key with the role that the route names. */
const requireKeys = (api: FastifyInstance, needs: AppNeeds): void => {
  const authenticate = createAuthenticate(
    needs.keys,
    createRateLimit(needs.authFailureLimit, needs.now),
  );
  const perKey = createRateLimit(needs.rateLimit, needs.now);

  api.addHook("onRoute", (route) => {
    if (!route.config?.role) throw new Error(`A route of ${route.url} names no role.`);
  });
  api.addHook("onRequest", async (request, reply) => {
    const checked = await authenticate(request, request.routeOptions.config.role ?? "admin");
    if (!checked.ok) {
      if ("wait" in checked) reply.header("retry-after", checked.wait);
      return sendFailure(reply, checked.failure);
    }
    const wait = perKey.take(checked.value.principal.keyId);
    if (wait !== undefined) {
      reply.header("retry-after", wait);
      return sendFailure(reply, {
        code: "RATE_LIMITED",
        message: `Too many requests with this API key; try again in ${wait} s.`,
      });
    }
    request.caller = checked.value;
    return undefined;
  });
  // A body can be long on its way: a key that was revoked meanwhile changes nothing any more.
  api.addHook("preHandler", async (request, reply) => {
    if (request.method === "GET" || request.method === "HEAD") return undefined;
    if (await needs.keys.principal(request.caller.keyText)) return undefined;
    return sendFailure(reply, {
      code: "UNAUTHORIZED",
      message: "This API key is not valid; it may have been revoked.",
    });
  });
};

/** Remembers every path and its methods, so that a wrong method is told from a wrong path. */
const collectPaths = (app: FastifyInstance) => {
  const known = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook("onRoute", ({ url, method, routePath }) => {
    const escaped = url.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*");
    // The root of a prefix answers with and without a slash, but is announced once.
    const end = routePath === "" ? "/?" : "";
    const pattern = new RegExp(`^${escaped.replace(/:[^/]+/g, "[^/]+")}${end}$`);
    const entry = known.get(url) ?? { pattern, methods: new Set<string>() };
    for (const name of [method].flat()) entry.methods.add(name);
    known.set(url, entry);
  });
  return {
    methodsOf(path: string): string[] {
      const entries = [...known.values()].filter(({ pattern }) => pattern.test(path));
      return [...new Set(entries.flatMap(({ methods }) => [...methods]))].sort();
    },
  };
};
