// Headers of every answer.
import type { FastifyReply } from "fastify";

export const commonHeaders = Object.freeze({
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
});

/** For what a browser could show as a page. On the JSON of the API they would say nothing, and cost each answer time. */
const pageGuards = Object.freeze({ "x-frame-options": "DENY", "referrer-policy": "no-referrer" });

const isApi = (url: string): boolean => url.startsWith("/api/") || url.startsWith("/ofrep/");

export const setCommonHeaders = (reply: FastifyReply): FastifyReply => {
  const { id, url } = reply.request;
  if (!isApi(url)) reply.headers(pageGuards);
  return reply.header("x-request-id", id).headers(commonHeaders);
};
