// What pages of any origin may use, and how browsers are told so.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "../../auth/principal.ts";

/** What a client key is for, and nothing else. The session of the dashboard is of no use here. */
export const isOpenToPages = (url: string): boolean =>
  url.startsWith("/ofrep/") || /^\/api\/v1\/usage(?:\?|$)/.test(url);

/** Headers of every response that a page can read. */
const pageHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "etag, retry-after, x-request-id",
} as const;

/** For a key that is limited to certain pages, they name the page that sent the request. */
export const pageHeadersFor = (
  request: FastifyRequest,
  { origins }: Pick<Principal, "origins"> = request.auth?.principal ?? { origins: null },
) => {
  const { origin } = request.headers;
  return origins === null || origin === undefined
    ? pageHeaders
    : { ...pageHeaders, "access-control-allow-origin": origin };
};

export const allowPages = (
  reply: FastifyReply,
  holder?: Pick<Principal, "origins">,
): FastifyReply => reply.headers(pageHeadersFor(reply.request, holder));

/** Browsers ask before they send a key: answered without one, since the question carries none. */
export const answerPreflights = (
  app: FastifyInstance,
  path: string,
  methods: readonly string[],
  /** Those of the path that are not for pages. */
  others: readonly string[] = [],
): void => {
  const allowed = methods.join(", ");
  const all = [...methods, ...others, "OPTIONS"].flatMap((name) =>
    name === "GET" ? ["GET", "HEAD"] : [name],
  );
  const allowHeader = all.sort().join(", ");
  app.options(path, { schema: { hide: true } }, (_request, reply) =>
    allowPages(reply)
      .header("allow", allowHeader)
      .header("access-control-allow-methods", allowed)
      .header(
        "access-control-allow-headers",
        "authorization, x-api-key, content-type, if-none-match, last-event-id",
      )
      .header("access-control-max-age", "7200")
      .code(204)
      .send(),
  );
};
