// The short way for reads that are made often: one flag or all of them, plainly asked for, with a key that was good before.
import type { IncomingMessage, ServerResponse } from "node:http";
import { isFlagKey } from "@halyard/core/flags/rules";
import type { FastifyBaseLogger, FastifyError } from "fastify";
import type { ApiKeyCache } from "../../access/api-key-cache.ts";
import type { VersionedFlag } from "../../domain/change.ts";
import { may, type Principal } from "../../domain/principal.ts";
import type { Failure, Result } from "../../errors.ts";
import type { Flags } from "../../management/flags.ts";
import type { FlagList, Soon } from "../../ports.ts";
import { flagBody, listBody } from "../api/flag-bodies.ts";
import type { RateLimit } from "../auth/rate-limit.ts";
import { trackResponse } from "../errors/broken-connection.ts";
import { failureOf } from "../errors/error-handler.ts";
import { errorBody, jsonType, statusOf } from "../errors/error-reply.ts";
import { freshnessHeaders } from "../request/conditional.ts";
import type { ObservedRoute, Observer } from "../request/observe.ts";
import { type PreparedAnswer, prepareAnswer, sendPrepared } from "./prepared-answer.ts";
import { usualKey } from "./usual-key.ts";

export interface ReadingLaneDependencies {
  readonly log: FastifyBaseLogger;
  readonly observer: Observer;
  readonly keyCache: ApiKeyCache;
  readonly flags: Pick<Flags, "list" | "get">;
  readonly perKey: RateLimit;
  readonly requestIdOf: (request: IncomingMessage) => string;
  /** Headers of every answer. */
  readonly commonHeaders: Readonly<Record<string, string>>;
  readonly isClosing: () => boolean;
}

/** Asked for and counted; its answer is read from the store. */
interface Waiting {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly principal: Principal;
  readonly key: string | undefined;
  readonly startedAt: number;
}

const listPath = "/api/v1/flags";
const flagPrefix = `${listPath}/`;

/** Gives false, and has touched nothing, when the request is in any way unusual. The store is asked as always: never stale. */
export const createReadingLane = (dependencies: ReadingLaneDependencies) => {
  const { keyCache, flags, perKey, requestIdOf, isClosing, log } = dependencies;
  const { observer } = dependencies;
  const listRoute: ObservedRoute = { pattern: listPath, method: "GET" };
  const flagRoute: ObservedRoute = { pattern: `${flagPrefix}:key`, method: "GET" };
  const fixedHeaders = {
    "content-type": jsonType,
    ...dependencies.commonHeaders,
    ...freshnessHeaders,
  };
  /** Kept for as long as what they show. */
  const prepared = new WeakMap<object, PreparedAnswer>();
  const prepare = (of: object, tag: number, body: Buffer): PreparedAnswer => {
    const answer = prepareAnswer({ ...fixedHeaders, etag: `"${tag}"` }, body);
    prepared.set(of, answer);
    return answer;
  };
  const listAnswer = (list: FlagList): PreparedAnswer =>
    prepared.get(list) ?? prepare(list, list.revision, listBody(list));
  const flagAnswer = (found: Result<VersionedFlag>): PreparedAnswer | Failure => {
    if (!found.ok) return found.failure;
    const { value } = found;
    return prepared.get(value) ?? prepare(value, value.version, flagBody(value));
  };

  /** At once when the store needs not be waited for. */
  const read = (principal: Principal, key: string | undefined): Soon<PreparedAnswer | Failure> => {
    if (key === undefined) {
      const list = flags.list(principal.environment);
      return list instanceof Promise ? list.then(listAnswer) : listAnswer(list);
    }
    const found = flags.get(principal.environment, key);
    return found instanceof Promise ? found.then(flagAnswer) : flagAnswer(found);
  };

  const sendFailure = (response: ServerResponse, failure: Failure, requestId: string): number => {
    const status = statusOf[failure.code];
    const body = errorBody(failure);
    response
      .writeHead(status, {
        "content-type": jsonType,
        ...dependencies.commonHeaders,
        "x-request-id": requestId,
        "content-length": String(Buffer.byteLength(body)),
        ...(failure.code === "UNAVAILABLE" && { "retry-after": "1" }),
        ...(isClosing() && { connection: "close" }),
      })
      .end(body);
    return status;
  };

  const finish = (
    { request, response, key, startedAt }: Waiting,
    answer: PreparedAnswer | Failure,
    requestId = requestIdOf(request),
  ): void => {
    const watch = (status: number) =>
      observer.answeredFast(
        key === undefined ? listRoute : flagRoute,
        request,
        requestId,
        status,
        startedAt,
      );
    if ("head" in answer) {
      sendPrepared(response, answer, requestId, isClosing());
      watch(200);
    } else watch(sendFailure(response, answer, requestId));
  };
  const fail = (one: Waiting, error: FastifyError): void => {
    const id = requestIdOf(one.request);
    finish(one, failureOf(error, id, log), id);
  };
  const answerOne = (one: Waiting): void => {
    let answer: Soon<PreparedAnswer | Failure>;
    try {
      answer = read(one.principal, one.key);
    } catch (error) {
      fail(one, error as FastifyError);
      return;
    }
    if (!(answer instanceof Promise)) finish(one, answer);
    else {
      answer.then(
        (later) => finish(one, later),
        (error: FastifyError) => fail(one, error),
      );
    }
  };

  let waiting: Waiting[] = [];
  const answerAll = (): void => {
    const all = waiting;
    waiting = [];
    for (const one of all) answerOne(one);
  };

  return (request: IncomingMessage, response: ServerResponse, startedAt: number): boolean => {
    const { method, url, headers } = request;
    if (method !== "GET" || !url?.startsWith(listPath) || isClosing()) return false;
    const key = url === listPath ? undefined : url.slice(flagPrefix.length);
    // As it stands in the path: anything but a key to the letter takes the usual way.
    if (key !== undefined && !(url.startsWith(flagPrefix) && isFlagKey(key))) return false;
    if (
      headers["if-none-match"] !== undefined ||
      headers["content-length"] !== undefined ||
      headers["transfer-encoding"] !== undefined
    ) {
      return false;
    }
    const keyText = usualKey(headers);
    const principal = keyText === undefined ? undefined : keyCache.known(keyText)?.principal;
    if (!principal || !may(principal, "flags.read")) return false;
    const { keyId } = principal;
    if (perKey.waiting(keyId) !== undefined) return false;
    perKey.take(keyId);

    trackResponse(request.socket, response);
    // What came in together is read together, after the last of it: one look at the store does for all.
    if (waiting.length === 0) setImmediate(answerAll);
    waiting.push({ request, response, principal, key, startedAt });
    return true;
  };
};
