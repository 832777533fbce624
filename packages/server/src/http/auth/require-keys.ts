// A scope of routes that ask for a key with the role that each of them names.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ApiKeyCache } from "../../access/api-key-cache.ts";
import type { Role } from "../../domain/principal.ts";
import { keyRefused, sendFailure } from "../errors/error-reply.ts";
import type { Authenticate, Authenticated } from "./authenticate.ts";
import { type RateLimit, unlimited } from "./rate-limit.ts";

export interface KeyDependencies {
  readonly keyCache: ApiKeyCache;
  readonly authenticate: Authenticate;
  readonly perKey: RateLimit;
}

export const requireKeys = (api: FastifyInstance, dependencies: KeyDependencies): void => {
  /** Refuses the request, or gives true. */
  const admit = (
    request: FastifyRequest,
    reply: FastifyReply,
    checked: Authenticated,
    perKey: RateLimit,
  ): boolean => {
    if (!checked.ok) {
      if ("wait" in checked) reply.header("retry-after", checked.wait);
      sendFailure(reply, checked.failure);
      return false;
    }
    const wait = perKey.take(checked.value.principal.keyId);
    if (wait !== undefined) {
      reply.header("retry-after", wait);
      sendFailure(reply, {
        code: "RATE_LIMITED",
        message: `Too many requests with this API key; try again in ${wait} s.`,
      });
      return false;
    }
    request.auth = checked.value;
    return true;
  };

  // With callbacks: a promise for each hook is what a request would mostly cost.
  const checkKey =
    (role: Role, perKey: RateLimit) =>
    (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
      const checked = dependencies.authenticate(request, role);
      if (!(checked instanceof Promise)) {
        if (admit(request, reply, checked, perKey)) done();
        return;
      }
      checked.then((later) => {
        if (admit(request, reply, later, perKey)) done();
      }, done);
    };

  api.addHook("onRoute", (route) => {
    const { role, unlimited: isUnlimited } = route.config ?? {};
    if (!role) throw new Error(`A route of ${route.url} names no role.`);
    const check = checkKey(role, isUnlimited ? unlimited : dependencies.perKey);
    route.onRequest = [check, ...[route.onRequest ?? []].flat()];
  });
  // A body can be long on its way: a key that was revoked meanwhile changes nothing any more.
  api.addHook("preHandler", (request, reply, done) => {
    const { method } = request;
    if (
      method === "GET" ||
      method === "HEAD" ||
      dependencies.keyCache.isValid(request.auth.principal.keyId)
    ) {
      done();
      return;
    }
    sendFailure(reply, keyRefused);
  });
};
