// What every request passes: one hook when it comes, one before it changes something, one before its answer is sent.
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from "fastify";
import type { AuthContext, Authenticate, Authenticated } from "../auth/authenticate.ts";
import type { ApiKeyCache } from "../auth/key-cache.ts";
import type { Permission, Principal } from "../auth/principal.ts";
import { type RateLimit, unlimited } from "../auth/rate-limit.ts";
import type { Failure } from "../errors.ts";
import { keyRefused, sendFailure } from "./errors/error-reply.ts";
import { collectPaths } from "./errors/known-paths.ts";
import { createLargeReads } from "./load/large-reads.ts";
import type { Overload } from "./load/overload.ts";
import { setCommonHeaders } from "./request/common-headers.ts";
import type { ObservedRoute, Observer } from "./request/observe.ts";

export interface LifecycleDependencies {
  readonly observer: Observer;
  readonly overload: Overload;
  /** Milliseconds after which a client that hardly reads a large response is disconnected. */
  readonly slowReadInterval: number | undefined;
  readonly now: () => number;
  readonly keyCache: ApiKeyCache;
  /** Requests a minute for each key. */
  readonly perKey: RateLimit;
  /** For routes that are counted on their own: requests a minute for each key, and for each address. */
  readonly newLimits: () => { readonly perKey: RateLimit; readonly perAddress: RateLimit };
  /** By an API key alone. */
  readonly authenticateKey: Authenticate;
  /** By an API key or a session of the dashboard, where the API takes both. */
  readonly authenticateApi: Authenticate;
  /** Answers a browser at an address that does not exist with the dashboard's page; undefined when it did not. */
  readonly sendUnknownPage:
    | ((request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined)
    | undefined;
}

/** What of a route is decided when it is made. */
interface Route extends ObservedRoute {
  /** Undefined when addresses are not counted. */
  readonly perAddress?: RateLimit;
  /** Undefined when it needs no key. */
  readonly access?: {
    readonly permission: Permission;
    readonly authenticate: Authenticate;
    readonly perKey: RateLimit;
    readonly large: LargeRead | undefined;
  };
}

/** Whether a response can be large: always, or when `at` or `revision` reads the past. */
type LargeRead = "always" | "past";

declare module "fastify" {
  interface FastifyContextConfig {
    /** What a caller must be allowed to do; every route that takes a key names it. */
    permission?: Permission;
    /** Evaluation: the limit on requests of a key does not count it, and it changes nothing that is audited. */
    unlimited?: boolean;
    /** Open to everyone, or to keys that everyone can see: counted on its own, for each key and for each address. */
    ownRateLimit?: boolean;
    /** Its response can be large: only a few of these are served at a time. */
    large?: LargeRead;
    /** Set for every route by the lifecycle. */
    route?: Route;
  }
  interface FastifyRequest {
    startedAt: number;
    route: Route;
    auth: AuthContext;
    /** Whose key it was, when it was valid but may not do this. */
    refused: Principal | undefined;
  }
}

/** Of requests for which there is no route. */
const noRoute: Route = { pattern: "none", method: undefined };

const nothingHere: Failure = {
  code: "NOT_FOUND",
  message: "This path does not exist; /docs lists those that do.",
};
const shuttingDown: Failure = {
  code: "UNAVAILABLE",
  message: "The server is shutting down; try again.",
};
const noHost: Failure = {
  code: "VALIDATION_FAILED",
  message: "The request has no Host header.",
};
const twoHosts: Failure = {
  code: "VALIDATION_FAILED",
  message: "The request has more than one Host.",
};

const isLarge = ({ query }: FastifyRequest, large: LargeRead): boolean => {
  const { at, revision } = query as { readonly at?: unknown; readonly revision?: unknown };
  return large === "always" || at !== undefined || revision !== undefined;
};

/** To be called before any route is made; returns whether the server is closing. */
export const addLifecycle = (
  app: FastifyInstance,
  dependencies: LifecycleDependencies,
): (() => boolean) => {
  const { observer, overload, now, keyCache } = dependencies;
  let closing = false;
  const isClosing = () => closing;
  app.addHook("preClose", async () => {
    closing = true;
  });
  const paths = collectPaths();
  const largeReads = createLargeReads(dependencies.slowReadInterval);
  app.decorateRequest("startedAt", 0);
  app.decorateRequest("route");
  app.decorateRequest("auth");
  app.decorateRequest("refused");

  app.addHook("onRoute", (options) => {
    const { url, method } = options;
    const { permission, unlimited: isUnlimited, ownRateLimit, large } = options.config ?? {};
    const own = ownRateLimit ? dependencies.newLimits() : undefined;
    paths.add(options);
    const access = permission && {
      permission,
      authenticate: url.startsWith("/api/")
        ? dependencies.authenticateApi
        : dependencies.authenticateKey,
      perKey: own?.perKey ?? (isUnlimited ? unlimited : dependencies.perKey),
      large,
    };
    const route: Route = {
      pattern: url,
      method: typeof method === "string" ? method : undefined,
      ...(own && { perAddress: own.perAddress }),
      ...(access && { access }),
    };
    options.config = { ...options.config, route };
    if (access && method !== "GET" && method !== "HEAD") {
      options.preHandler = isUnlimited ? checkKeyAgain : beginChange;
    }
  });

  const refuseUnknown = (request: FastifyRequest, reply: FastifyReply): void => {
    const allowed = paths.methodsOf(request.url.replace(/\?.*$/s, ""));
    if (allowed.length === 0) {
      if (!dependencies.sendUnknownPage?.(request, reply)) sendFailure(reply, nothingHere);
      return;
    }
    const names = allowed.join(", ");
    sendFailure(reply.header("allow", names), {
      code: "METHOD_NOT_ALLOWED",
      message: `${request.method} is not allowed here; allowed: ${names}.`,
    });
  };

  /** Refuses the request, or goes on. */
  const admit = (
    request: FastifyRequest,
    reply: FastifyReply,
    checked: Authenticated,
    { perKey, large }: NonNullable<Route["access"]>,
    done: HookHandlerDoneFunction,
  ): void => {
    if (!checked.ok) {
      if (checked.wait !== undefined) reply.header("retry-after", checked.wait);
      request.refused = checked.principal;
      sendFailure(reply, checked.failure);
      return;
    }
    const wait = perKey.take(checked.value.principal.keyId);
    if (wait !== undefined) {
      sendFailure(reply.header("retry-after", wait), {
        code: "RATE_LIMITED",
        message: `Too many requests with this API key; try again in ${wait} s.`,
      });
      return;
    }
    request.auth = checked.value;
    if (large === undefined || !isLarge(request, large)) {
      done();
      return;
    }
    const { environment, keyId } = checked.value.principal;
    if (largeReads.enter({ environmentId: environment.id, keyId }, reply.raw, done)) return;
    const { failure, retryAfter } = overload.shed("management");
    sendFailure(reply.header("retry-after", String(retryAfter)), failure);
  };

  // With callbacks: a promise for each hook is what a request would mostly cost.
  app.addHook("onRequest", (request, reply, done) => {
    const { raw } = request;
    const at = now();
    request.startedAt = at;
    request.route = request.routeOptions.config.route ?? noRoute;
    setCommonHeaders(reply);
    observer.began(request, reply);

    const kind = overload.check(raw, at);
    if (overload.isExcess(raw.socket)) reply.header("connection", "close");
    if (kind) {
      const { failure, retryAfter } = overload.shed(kind);
      sendFailure(reply.header("retry-after", String(retryAfter)), failure);
    } else if (isClosing()) sendFailure(reply, shuttingDown);
    else if (raw.headers.host === undefined && raw.httpVersion === "1.1") {
      sendFailure(reply, noHost);
    } else if (raw.headers.host?.includes(",")) sendFailure(reply, twoHosts);
    else if (request.route === noRoute) refuseUnknown(request, reply);
    else {
      const { access, perAddress } = request.route;
      const wait = perAddress?.take(request.ip);
      if (wait !== undefined) {
        sendFailure(reply.header("retry-after", wait), {
          code: "RATE_LIMITED",
          message: `Too many requests from this address; try again in ${wait} s.`,
        });
        return;
      }
      if (!access) {
        done();
        return;
      }
      const checked = access.authenticate(request, access.permission);
      if (!(checked instanceof Promise)) admit(request, reply, checked, access, done);
      else checked.then((later) => admit(request, reply, later, access, done), done);
    }
  });

  /** A body can be long on its way: a key that was revoked meanwhile is of no use any more. */
  const checkKeyAgain = (
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
  ): void => {
    if (keyCache.isValid(request.auth.principal.keyId)) done();
    else sendFailure(reply, keyRefused);
  };
  /** The use cases pass the origin on to the audit log. */
  const beginChange = (
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
  ): void => {
    const { id: requestId, ip: address, auth } = request;
    const principal = { ...auth.principal, requestOrigin: { requestId, address } };
    request.auth = { ...auth, principal };
    checkKeyAgain(request, reply, done);
  };

  app.addHook("onSend", (request, reply, payload, done) => {
    // What was asked before the shutdown is answered, and its connection not kept.
    if (isClosing()) reply.header("connection", "close");
    observer.answered(request, reply.statusCode);
    done(null, payload);
  });

  // Reached by a route that finds nothing of its own, such as a file that is not there.
  app.setNotFoundHandler((request, reply) => {
    request.route = noRoute;
    return sendFailure(reply, nothingHere);
  });
  return isClosing;
};
