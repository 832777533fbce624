// Responds to the requests of one table without the framework, when they are well-formed and have a key that is known to be valid.
import { channel } from "node:diagnostics_channel";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyBaseLogger } from "fastify";
import type { KeyCheck } from "../../platform/auth/authenticate.ts";
import type { Permission, Principal } from "../../platform/auth/principal.ts";
import { internalError } from "../../platform/http/errors/error-handler.ts";
import {
  authenticateHeader,
  jsonType,
  keyRefused,
  protocolErrorBody,
} from "../../platform/http/errors/error-reply.ts";
import type { Overload } from "../../platform/http/load/overload.ts";
import { commonHeaders, requestIdOf } from "../../platform/http/request/common-headers.ts";
import { pageHeaders } from "../../platform/http/request/cors.ts";
import type { ObservedRoute, Observer } from "../../platform/http/request/observe.ts";
import type { RequestStep } from "../../platform/http/request/request-steps.ts";

export interface FastAnswer {
  readonly status: number;
  readonly body: string;
}

/** A route of the OpenFeature protocol whose path ends with one parameter and whose body is JSON. */
export interface FastRoute {
  readonly method: string;
  /** The path before the parameter. */
  readonly prefix: string;
  readonly pattern: string;
  /** What a caller must be allowed to do. */
  readonly permission: Permission;
  /** What answers once the body is there; undefined when the request is not for the fast path. */
  readonly prepare: (
    principal: Principal,
    parameter: string,
  ) => ((body: Buffer) => FastAnswer) | undefined;
}

export interface FastPathDependencies {
  readonly log: Pick<FastifyBaseLogger, "error">;
  readonly now: () => number;
  readonly overload: Pick<Overload, "check">;
  readonly observer: Observer;
  readonly keyCheck: Pick<KeyCheck, "known">;
  readonly maxBodyBytes: number;
  readonly isClosing: () => boolean;
}

/** Says which route has answered on the fast path, for whoever listens. */
export const fastPathChannel = channel("halyard:fast-path");

const isPlainJson = (type: string | undefined): boolean =>
  type === "application/json" || type === "application/json; charset=utf-8";

/** Passes on any other request untouched: the route of the framework gives the same response. */
export const createFastPath = (
  routes: readonly FastRoute[],
  dependencies: FastPathDependencies,
): RequestStep => {
  const { log, now, overload, observer, keyCheck, maxBodyBytes, isClosing } = dependencies;
  const fixedHeaders = { "content-type": jsonType, ...commonHeaders, ...pageHeaders };
  /** Of nearly every answer: Node has read it when writeHead returns, so that the next can have it. */
  const head = [...Object.entries(fixedHeaders).flat(), "x-request-id", "", "content-length", ""];
  const idPlace = head.length - 3;
  const lengthPlace = head.length - 1;

  const send = (response: ServerResponse, reqId: string, { status, body }: FastAnswer): void => {
    head[idPlace] = reqId;
    head[lengthPlace] = String(Buffer.byteLength(body));
    const isUsual = status !== 401 && !isClosing();
    const headers = isUsual
      ? head
      : [
          ...head,
          ...(status === 401 ? ["www-authenticate", authenticateHeader] : []),
          ...(isClosing() ? ["connection", "close"] : []),
        ];
    response.writeHead(status, headers).end(body);
  };

  /** False, and nothing is touched, when the request is not for this route. */
  const takeFor = ({ method, prefix, pattern, permission, prepare }: FastRoute) => {
    const route: ObservedRoute = { pattern, method };
    return (request: IncomingMessage, response: ServerResponse, at: number): boolean => {
      const { url = "", headers } = request;
      if (request.method !== method || !url.startsWith(prefix) || isClosing()) return false;
      const length = Number(headers["content-length"]);
      if (!(length > 0 && length <= maxBodyBytes) || !isPlainJson(headers["content-type"])) {
        return false;
      }
      const { host, expect } = headers;
      if (host === undefined || host.includes(",") || expect !== undefined) return false;
      const key = keyCheck.known(headers, permission);
      const answer = key && prepare(key.principal, url.slice(prefix.length));
      if (!answer) return false;

      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const reqId = requestIdOf(request);
        let answered: FastAnswer;
        try {
          const [first] = chunks;
          const body = chunks.length === 1 && first ? first : Buffer.concat(chunks);
          // The body may have been long on its way, and the key revoked meanwhile, or gone with its environment.
          answered = key.isValid
            ? answer(body)
            : { status: 401, body: protocolErrorBody(keyRefused) };
        } catch (err) {
          log.error({ reqId, err }, "a request failed");
          answered = { status: 500, body: protocolErrorBody(internalError(reqId)) };
        }
        send(response, reqId, answered);
        observer.answeredFast(route, request, reqId, answered.status, at);
        if (fastPathChannel.hasSubscribers) fastPathChannel.publish({ pattern });
      });
      return true;
    };
  };

  const takers = routes.map(takeFor);
  return (request, response, next) => {
    const at = now();
    if (overload.check(request, at) === undefined) {
      for (const take of takers) if (take(request, response, at)) return;
    }
    next();
  };
};
