// The short way for the request that is made most: one evaluation, well-formed, with a key that was good before.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyBaseLogger } from "fastify";
import type { ApiKeyCache } from "../../access/api-key-cache.ts";
import type { Snapshots } from "../../evaluation/snapshots.ts";
import type { EvaluationCounts } from "../../telemetry/http-meter.ts";
import { trackResponse } from "../errors/broken-connection.ts";
import { mistakeOfOurs } from "../errors/error-handler.ts";
import {
  authenticateHeader,
  jsonType,
  keyRefused,
  protocolErrorBody,
} from "../errors/error-reply.ts";
import { answerOne } from "../ofrep/answers.ts";
import { pageHeaders } from "../request/cors.ts";
import type { ObservedRoute, Observer } from "../request/observe.ts";
import { usualKey } from "./usual-key.ts";

export interface LaneDependencies {
  readonly log: FastifyBaseLogger;
  readonly observer: Observer;
  readonly keyCache: ApiKeyCache;
  readonly snapshots: Snapshots;
  readonly maxBodyBytes: number;
  readonly requestIdOf: (request: IncomingMessage) => string;
  /** Headers of every answer. */
  readonly commonHeaders: Readonly<Record<string, string>>;
  readonly isClosing: () => boolean;
  readonly counts: EvaluationCounts;
}

const prefix = "/ofrep/v1/evaluate/flags/";
const isUsualType = (type: string | undefined): boolean =>
  type === "application/json" || type === "application/json; charset=utf-8";

/**
 * Gives false, and has touched nothing, when the request is in any way unusual: then it goes through the framework, whose
 * route answers the same. Routing, hooks and header handling there cost more than the evaluation.
 */
export const createEvaluationLane = (dependencies: LaneDependencies) => {
  const { keyCache, snapshots, maxBodyBytes, requestIdOf, isClosing, log, counts } = dependencies;
  const route: ObservedRoute = { pattern: `${prefix}:key`, method: "POST" };
  const { observer } = dependencies;
  const fixedHeaders = Object.entries({
    "content-type": jsonType,
    ...dependencies.commonHeaders,
    ...pageHeaders,
  }).flat();
  /** Of nearly every answer: Node has read it when writeHead comes back, so that the next can have it. */
  const head = [...fixedHeaders, "x-request-id", "", "content-length", ""];
  const idPlace = head.length - 3;
  const lengthPlace = head.length - 1;

  const send = (
    response: ServerResponse,
    requestId: string,
    { status, body }: { readonly status: number; readonly body: string },
  ): void => {
    head[idPlace] = requestId;
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

  return (request: IncomingMessage, response: ServerResponse, at: number): boolean => {
    const { method, url, headers } = request;
    if (method !== "POST" || !url?.startsWith(prefix) || isClosing()) return false;
    const length = Number(headers["content-length"]);
    if (!(length > 0 && length <= maxBodyBytes) || !isUsualType(headers["content-type"])) {
      return false;
    }
    const keyText = usualKey(headers);
    const holder = keyText === undefined ? undefined : keyCache.known(keyText);
    const snapshot = holder && snapshots.get(holder.principal.environment.id);
    // As it stands in the path: what is not a flag's key to the letter takes the usual way.
    const key = url.slice(prefix.length);
    if (!holder || !snapshot?.get(key)) return false;

    trackResponse(request.socket, response);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const requestId = requestIdOf(request);
      try {
        const [first] = chunks;
        const body = chunks.length === 1 && first ? first : Buffer.concat(chunks);
        // The body may have been long on its way: what holds is what holds now. A deleted environment takes its keys with it.
        const answered = holder.isValid
          ? answerOne(snapshot, key, body, counts)
          : { status: 401, body: protocolErrorBody(keyRefused) };
        send(response, requestId, answered);
        observer.answeredFast(route, request, requestId, answered.status, at);
      } catch (err) {
        log.error({ err, reqId: requestId }, "a request failed");
        const body = protocolErrorBody(mistakeOfOurs(requestId));
        send(response, requestId, { status: 500, body });
        observer.answeredFast(route, request, requestId, 500, at);
      }
    });
    return true;
  };
};
