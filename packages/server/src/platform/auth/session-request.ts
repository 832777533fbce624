// The session in a request and in an answer: its cookie, and whether our own page has sent it.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../database/store.ts";
import type { Failure } from "../errors.ts";
import { createCookies } from "./cookies.ts";
import type { Session } from "./sessions.ts";

export interface SessionRequests {
  /** Whether a cookie of ours came along, good or not. */
  hasCookie(request: FastifyRequest): boolean;
  /** What the cookie holds; undefined when there is none, or two different ones. */
  tokenIn(request: FastifyRequest): string | undefined;
  /** Why a request is refused that another page may have sent. */
  checkOrigin(request: FastifyRequest): Failure | undefined;
  /** Why a request is refused that changes something but shows no token of this session. */
  checkCsrf(request: FastifyRequest, session: Session): Failure | undefined;
  write(reply: FastifyReply, session: Session): void;
  clear(reply: FastifyReply): void;
}

/** What a request that changes something must carry beside the cookie: a foreign page cannot know it. */
export const csrfTokenOf = ({ token }: Pick<Session, "token">): string =>
  createHmac("sha256", token).update("halyard session request token").digest("base64url");

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const cookieName = "halyard_session";

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(", ") : header;

const forbidden = (message: string): Failure => ({ code: "FORBIDDEN", message });

const foreignPage = forbidden(
  "A session is for the dashboard's own page, and this request comes from another; send an API key instead.",
);
const otherScheme = forbidden(
  "This page was loaded over https, but the server was asked over http: behind a proxy that terminates TLS, set HALYARD_TRUST_PROXY or HALYARD_PUBLIC_URL.",
);

export const createSessionRequests = (
  clock: Clock,
  publicUrl: string | undefined,
): SessionRequests => {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl);

  const cookies = createCookies(publicUrl);
  const set = (reply: FastifyReply, value: string, seconds: number): void =>
    cookies.set(reply, cookieName, value, { seconds, sameSite: "Strict" });

  return {
    hasCookie: (request) => cookies.valuesOf(request, cookieName).size > 0,

    tokenIn(request) {
      const [value, ...others] = cookies.valuesOf(request, cookieName);
      // Of two different ones nobody knows whose it is.
      return others.length > 0 ? undefined : value;
    },

    checkOrigin(request) {
      const site = textOf(request.headers["sec-fetch-site"]);
      const origin = textOf(request.headers.origin);
      if (site !== undefined && site !== "same-origin" && site !== "none") return foreignPage;
      if (origin === undefined || origin === own?.origin) return undefined;
      const called = URL.parse(`${request.protocol}://${request.host}`);
      const from = URL.parse(origin);
      if (called && from?.origin === called.origin) return undefined;
      const isBehindTls = from?.protocol === "https:" && from.host === called?.host;
      return isBehindTls ? otherScheme : foreignPage;
    },

    checkCsrf(request, session) {
      const token = textOf(request.headers["x-halyard-csrf"]);
      return token !== undefined && timingSafeEqual(digest(token), digest(csrfTokenOf(session)))
        ? undefined
        : forbidden(
            "This request lacks the token of the session; send the csrf of GET /session as X-Halyard-CSRF.",
          );
    },

    write(reply, session) {
      const seconds = Math.round((session.endsAt.getTime() - clock().getTime()) / 1_000);
      set(reply, session.token, Math.max(0, seconds));
    },
    clear: (reply) => set(reply, "", 0),
  };
};
