// What pages of any origin may use, and how browsers are told so.
import type { FastifyInstance, FastifyReply } from "fastify";

/** What a client key is for, and nothing else. The session of the dashboard is of no use here. */
export const isOpenToPages = (url: string): boolean =>
  url.startsWith("/ofrep/") || /^\/api\/v1\/usage(?:\?|$)/.test(url);

/** Headers of every answer that a page may read. */
export const pageHeaders = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "etag, retry-after, x-request-id",
} as const;

/** The answer to a key that is for certain pages names the page that has asked. */
export const allowPages = (
  reply: FastifyReply,
  { origins } = reply.request.auth?.principal ?? { origins: null },
): FastifyReply => {
  reply.headers(pageHeaders);
  const { origin } = reply.request.headers;
  if (origins === null || origin === undefined) return reply;
  return reply.header("access-control-allow-origin", origin);
};

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
