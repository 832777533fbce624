// Serves evaluations on the bare request and response once the lifecycle has admitted them: Fastify's reading, validating and
// sending would take a sixth of an evaluation's time. Fastify does the routing, and sends every rejection and error.
import type { OutgoingHttpHeaders } from "node:http";
import type {
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  RouteHandlerMethod,
} from "fastify";
import type { ApiKeyCache } from "../../platform/auth/key-cache.ts";
import { fail, type Result } from "../../platform/errors.ts";
import { jsonType, keyRefused, sendFailure } from "../../platform/http/errors/error-reply.ts";
import { isJsonCharset } from "../../platform/http/errors/json-body.ts";
import { commonHeaders } from "../../platform/http/request/common-headers.ts";
import { pageHeadersFor } from "../../platform/http/request/cors.ts";
import type { Observer } from "../../platform/http/request/observe.ts";

export interface DirectDependencies {
  readonly observer: Pick<Observer, "answered">;
  readonly keyCache: Pick<ApiKeyCache, "isValid">;
  readonly isClosing: () => boolean;
  readonly maxBodyBytes: number;
}

export interface DirectResponse {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  /** JSON; undefined for none. */
  readonly body: string | Buffer | undefined;
}

/** Undefined when the client has disconnected. */
type Served = Result<DirectResponse | undefined>;
/** The body is undefined when the request has none. */
type Serve<Request> = (request: Request, body: Buffer | undefined) => Served | Promise<Served>;

const fastifyError = (code: string): Error => Object.assign(new Error(), { code });

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

const isReadable = (request: FastifyRequest): boolean => {
  const type = request.headers["content-type"];
  if (type === undefined) return !hasBody(request);
  // What nearly every client sends needs no parsing.
  if (type === "application/json") return true;
  return request.mediaType === "application/json" && isJsonCharset(type);
};

/** Calls back once, with the whole body or with the error that Fastify's own reading would end with. */
const readBody = (
  request: FastifyRequest,
  maxBytes: number,
  done: (body: Buffer | undefined, error?: Error) => void,
): void => {
  const { raw, headers } = request;
  if (!isReadable(request)) {
    done(undefined, fastifyError("FST_ERR_CTP_INVALID_MEDIA_TYPE"));
    return;
  }
  if (Number(headers["content-length"] ?? 0) > maxBytes) {
    done(undefined, fastifyError("FST_ERR_CTP_BODY_TOO_LARGE"));
    return;
  }
  const chunks: Buffer[] = [];
  let length = 0;
  const add = (chunk: Buffer): void => {
    length += chunk.length;
    chunks.push(chunk);
    if (length <= maxBytes) return;
    raw.off("data", add).off("end", end);
    done(undefined, fastifyError("FST_ERR_CTP_BODY_TOO_LARGE"));
  };
  const end = (): void => {
    const [first] = chunks;
    done(chunks.length === 1 ? first : Buffer.concat(chunks));
  };
  raw.on("data", add).on("end", end);
};

/** Serves a route in its last `onRequest` hook. The route needs a handler all the same, which is never called. */
export type Direct = <Request extends FastifyRequest>(
  serve: Serve<Request>,
) => { readonly onRequest: onRequestHookHandler; readonly handler: RouteHandlerMethod };

const neverCalled = (): never => {
  throw new Error("An evaluation is served before the handler of its route.");
};

export const createDirect = ({
  observer,
  keyCache,
  isClosing,
  maxBodyBytes,
}: DirectDependencies): Direct => {
  const send = (reply: FastifyReply, { status, headers, body }: DirectResponse): void => {
    const { request } = reply;
    const response = reply.hijack().raw;
    observer.answered(request, status);
    response
      .writeHead(status, {
        "x-request-id": request.id,
        ...commonHeaders,
        ...pageHeadersFor(request),
        ...(body !== undefined && {
          "content-type": jsonType,
          "content-length": Buffer.byteLength(body),
        }),
        ...headers,
        ...(isClosing() && { connection: "close" }),
      })
      .end(body);
  };

  return <Request extends FastifyRequest>(serve: Serve<Request>) => ({
    handler: neverCalled,
    onRequest(request, reply) {
      const respond = (served: Served): void => {
        if (!served.ok) sendFailure(reply, served.failure);
        else if (served.value) send(reply, served.value);
      };
      const refuse = (error: unknown): void => void reply.send(error);
      readBody(request, maxBodyBytes, (body, error) => {
        if (error) refuse(error);
        // The body can be long on its way, and its key revoked meanwhile.
        else if (!keyCache.isValid(request.auth.principal.keyId)) respond(fail(keyRefused));
        else {
          try {
            const served = serve(request as Request, body);
            if (served instanceof Promise) served.then(respond).catch(refuse);
            else respond(served);
          } catch (error) {
            refuse(error);
          }
        }
      });
    },
  });
};
