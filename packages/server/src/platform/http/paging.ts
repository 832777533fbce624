// Pages: an opaque cursor in the Link header says where the next one begins.
import type { FastifyReply, FastifyRequest } from "fastify";
import { fail, invalidField, ok, type Result } from "../errors.ts";

/** Relative to the request, so that it holds behind any proxy. With the parameters of the request, except for these. */
export const sendNextLink = (
  request: FastifyRequest,
  reply: FastifyReply,
  next: Readonly<Record<string, string>>,
): void => {
  const [path = "", search = ""] = request.url.split("?", 2);
  const query = new URLSearchParams(search);
  for (const [name, value] of Object.entries(next)) query.set(name, value);
  reply.header("link", `<${path}?${query.toString()}>; rel="next"`);
};

/** For the page after the entry of this name. */
export const cursorFor = (last: string) => ({ cursor: Buffer.from(last).toString("base64url") });

/** What the cursor holds; empty when no Link has carried it. */
export const decodeCursor = (cursor: string): string => {
  const bytes = Buffer.from(cursor, "base64url");
  return bytes.toString("base64url") === cursor ? bytes.toString() : "";
};

export const badCursor = invalidField("cursor", "must be the cursor of a Link header");

interface Page<Id> {
  readonly limit: number;
  /** Only what is older. */
  readonly before?: Id;
}

const defaultLimit = 100;

/** What to read for a list that is shown newest first: one more than asked for, to know whether there is a next page. */
export const pageOf = <Id>(
  query: { readonly limit?: number; readonly cursor?: string },
  readId: (cursor: string) => Id | undefined,
): Result<Page<Id>> => {
  const limit = (query.limit ?? defaultLimit) + 1;
  if (query.cursor === undefined) return ok({ limit });
  const before = readId(decodeCursor(query.cursor));
  return before === undefined ? fail(badCursor) : ok({ limit, before });
};

export const sendPage = <T extends Id, Id extends { readonly id: string | number } = T>(
  request: FastifyRequest,
  reply: FastifyReply,
  entries: readonly T[],
  limit: number,
  show: (entry: T) => object,
  {
    found = entries.length,
    searchedTo,
    cursorOf = ({ id }) => String(id),
  }: {
    /** How many there are within the limit, when the entries may be fewer. */
    readonly found?: number;
    /** The last entry that an unfinished search checked: the next page begins there. */
    readonly searchedTo?: Id | undefined;
    readonly cursorOf?: (entry: Id) => string;
  } = {},
): FastifyReply => {
  const page = entries.slice(0, limit - 1);
  const last = found > page.length ? page.at(-1) : searchedTo;
  if (last) sendNextLink(request, reply, cursorFor(cursorOf(last)));
  return reply.send(page.map(show));
};
