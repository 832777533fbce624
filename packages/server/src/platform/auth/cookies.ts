// Cookies of ours: under a name that over TLS only this host can set.
import type { FastifyReply, FastifyRequest } from "fastify";

export interface Cookies {
  /** Its values; several when somebody has planted another of the same name. */
  valuesOf(request: FastifyRequest, name: string): ReadonlySet<string>;
  set(reply: FastifyReply, name: string, value: string, options: CookieOptions): void;
}

interface CookieOptions {
  /** Until it is over; 0 removes it. */
  readonly seconds: number;
  /** Whether links and redirects of other sites bring it along. */
  readonly sameSite: "Strict" | "Lax";
}

export const createCookies = (publicUrl: string | undefined): Cookies => {
  const own = publicUrl === undefined ? undefined : new URL(publicUrl);

  // A proxy that ends TLS says so, or the operator has said under which address it is reached.
  const isSecure = (request: FastifyRequest): boolean =>
    request.protocol === "https" || (own?.protocol === "https:" && own.host === request.host);
  // Browsers give __Host- cookies to nobody but the very host that has set them over TLS.
  const nameFor = (request: FastifyRequest, name: string): string =>
    isSecure(request) ? `__Host-${name}` : name;

  return {
    valuesOf(request, name) {
      const { cookie } = request.headers;
      if (cookie === undefined) return new Set();
      const begin = `${nameFor(request, name)}=`;
      const pairs = cookie.split(";").map((pair) => pair.trim());
      return new Set(
        pairs.filter((pair) => pair.startsWith(begin)).map((pair) => pair.slice(begin.length)),
      );
    },

    set(reply, name, value, { seconds, sameSite }) {
      const { request } = reply;
      const secure = isSecure(request) ? "; Secure" : "";
      reply.header(
        "set-cookie",
        `${nameFor(request, name)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}${secure}`,
      );
    },
  };
};
