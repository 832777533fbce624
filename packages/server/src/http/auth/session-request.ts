// The session in a request and in an answer: its cookie, and whether our own page has sent it.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Failure } from "../../errors.ts";
import type { Clock } from "../../ports.ts";
import type { Session, SessionCookies } from "./session-cookie.ts";

export interface SessionRequests {
  /** Whether a cookie of ours came along, good or not. */
  hasCookie(request: FastifyRequest): boolean;
  sessionOf(request: FastifyRequest): Session | undefined;
  /** Why a request is refused that another page may have sent. */
  foreign(request: FastifyRequest): Failure | undefined;
  /** Why a request is refused that changes something but shows no token of this session. */
  unproven(request: FastifyRequest, session: Session): Failure | undefined;
  write(reply: FastifyReply, session: Session): void;
  clear(reply: FastifyReply): void;
}

const plainName = "halyard_session";

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(", ") : header;

/** The values of a cookie; several when somebody has planted another of the same name. */
const cookiesNamed = ({ headers }: FastifyRequest, name: string): Set<string> => {
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
  const begin = `${name}=`;
  return new Set(
    pairs.filter((pair) => pair.startsWith(begin)).map((pair) => pair.slice(begin.length)),
  );
};

const forbidden = (message: string): Failure => ({ code: "FORBIDDEN", message });

export const createSessionRequests = (
  cookies: SessionCookies,
  clock: Clock,
  publicUrl: string | undefined,
): SessionRequests => {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl);

  // A proxy that ends TLS says so, or the operator has said under which address it is reached.
  const isSecure = (request: FastifyRequest): boolean =>
    request.protocol === "https" || (own?.protocol === "https:" && own.host === request.host);
  // Browsers give __Host- cookies to nobody but the very host that has set them over TLS.
  const nameFor = (request: FastifyRequest): string =>
    isSecure(request) ? `__Host-${plainName}` : plainName;

  const set = (reply: FastifyReply, value: string, seconds: number): void => {
    const { request } = reply;
    const secure = isSecure(request) ? "; Secure" : "";
    reply.header(
      "set-cookie",
      `${nameFor(request)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`,
    );
  };

  return {
    hasCookie: (request) =>
      request.headers.cookie !== undefined && cookiesNamed(request, nameFor(request)).size > 0,

    sessionOf(request) {
      const [value, ...others] = cookiesNamed(request, nameFor(request));
      // Of two different ones nobody knows whose it is.
      return value === undefined || others.length > 0 ? undefined : cookies.open(value);
    },

    foreign(request) {
      const site = textOf(request.headers["sec-fetch-site"]);
      const origin = textOf(request.headers.origin);
      const isOurs =
        (site === undefined || site === "same-origin" || site === "none") &&
        (origin === undefined ||
          origin === own?.origin ||
          URL.parse(origin)?.host === URL.parse(`http://${request.host}`)?.host);
      return isOurs
        ? undefined
        : forbidden(
            "A session is for the dashboard's own page, and this request comes from another; send an API key instead.",
          );
    },

    unproven(request, session) {
      const token = textOf(request.headers["x-halyard-csrf"]);
      return token !== undefined && cookies.isCsrfToken(session, token)
        ? undefined
        : forbidden(
            "This request lacks the token of the session; send the csrf of GET /session as X-Halyard-CSRF.",
          );
    },

    write(reply, session) {
      const seconds = Math.max(0, Math.round((session.endsAt - clock().getTime()) / 1_000));
      set(reply, cookies.seal(session), seconds);
    },
    clear: (reply) => set(reply, "", 0),
  };
};
