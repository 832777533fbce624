// Pages: an opaque cursor in the Link header says where the next one begins.
import type { FastifyReply, FastifyRequest } from "fastify";
import { invalidField } from "../../errors.ts";

/** Relative to the request, so that it holds behind any proxy. */
export const sendNextLink = (request: FastifyRequest, reply: FastifyReply, last: string): void => {
  const [path = "", search = ""] = request.url.split("?", 2);
  const query = new URLSearchParams(search);
  query.set("cursor", Buffer.from(last).toString("base64url"));
  reply.header("link", `<${path}?${query.toString()}>; rel="next"`);
};

/** What the cursor holds; empty when no Link has carried it. */
export const decodeCursor = (cursor: string): string => {
  const bytes = Buffer.from(cursor, "base64url");
  return bytes.toString("base64url") === cursor ? bytes.toString() : "";
};

export const badCursor = invalidField("cursor", "must be the cursor of a Link header");
