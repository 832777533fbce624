// Headers of every answer, among them the name of its request.
import type { IncomingMessage } from "node:http";
import type { FastifyReply } from "fastify";

export const commonHeaders = Object.freeze({
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
});

/** For what a browser could show as a page. On the JSON of the API they would say nothing, and cost each answer time. */
const pageGuards = Object.freeze({ "x-frame-options": "DENY", "referrer-policy": "no-referrer" });

const isApi = (url: string): boolean => /^\/(?:api|ofrep|openfeature|flagd)\//.test(url);

export const setCommonHeaders = (reply: FastifyReply): FastifyReply => {
  const { id, url } = reply.request;
  if (!isApi(url)) reply.headers(pageGuards);
  return reply.header("x-request-id", id).headers(commonHeaders);
};

let requests = 0;
const processTag = Math.random().toString(36).slice(2, 8);
const newRequestId = (): string => {
  requests += 1;
  return `req-${processTag}-${requests.toString(36)}`;
};

/** What the client calls the request, when that can stand in a log, or a name of our own. */
export const requestIdOf = ({ headers }: IncomingMessage): string => {
  const given = headers["x-request-id"];
  return typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : newRequestId();
};
