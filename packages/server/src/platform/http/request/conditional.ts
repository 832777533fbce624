// ETags: what If-Match and If-None-Match ask for.
import type { FastifyReply, FastifyRequest } from "fastify";
import { invalid, ok, type Result } from "../../errors.ts";
import type { Precondition } from "../../precondition.ts";

interface Tag {
  readonly weak: boolean;
  readonly value: string;
}

const tagList = /^\s*(W\/)?"([\x21\x23-\x7e]*)"\s*(?:,|$)/;

const parseTags = (header: string): Tag[] | undefined => {
  const tags: Tag[] = [];
  let rest = header;
  while (rest.trim() !== "") {
    const match = tagList.exec(rest);
    if (!match) return undefined;
    tags.push({ weak: match[1] !== undefined, value: match[2] ?? "" });
    rest = rest.slice(match[0].length);
  }
  return tags.length === 0 ? undefined : tags;
};

/** A header that cannot be read is refused: to pass over it would turn a careful write into a careless one. */
export const ifMatch = (request: FastifyRequest): Result<Precondition> => {
  const header = request.headers["if-match"];
  if (header === undefined) return ok(undefined);
  if (header.trim() === "*") return ok("*");
  const tags = parseTags(header);
  if (!tags) return invalid("If-Match", 'must be * or versions in double quotes, such as "3"');
  return ok(tags.filter(({ weak }) => !weak).map(({ value }) => value));
};

export const isFresh = (request: FastifyRequest, value: string): boolean => {
  const header = request.headers["if-none-match"];
  if (header === undefined) return false;
  return header.trim() === "*" || (parseTags(header)?.some((tag) => tag.value === value) ?? false);
};

export const freshnessHeaders = {
  "cache-control": "private, no-cache",
  // Two environments can be at the same revision: what one caller was given is not what another gets.
  vary: "authorization, x-api-key, cookie, x-halyard-environment, origin",
} as const;

/** Sets the ETag; true when the client has this already and is told so. */
export const sendNotModified = (
  request: FastifyRequest,
  reply: FastifyReply,
  value: number | string,
): boolean => {
  reply.header("etag", `"${value}"`).headers(freshnessHeaders);
  if (!isFresh(request, String(value))) return false;
  reply.code(304).send();
  return true;
};
