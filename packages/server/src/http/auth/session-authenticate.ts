// Lets the dashboard's page ask with its session in the place of an API key.
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { ApiKeyCache } from "../../access/api-key-cache.ts";
import type { Principal } from "../../domain/principal.ts";
import { fail, invalid } from "../../errors.ts";
import type { Clock } from "../../ports.ts";
import { type Authenticate, type Authenticated, allow } from "./authenticate.ts";
import type { Session } from "./session-cookie.ts";
import type { SessionRequests } from "./session-request.ts";

export interface SessionDependencies {
  readonly keyCache: Pick<ApiKeyCache, "holder" | "knownHolder">;
  readonly requests: SessionRequests;
  readonly clock: Clock;
}

export const sessionOver =
  "You are not signed in, or your session is over; sign in with the dashboard.";

const isSafe = ({ method }: FastifyRequest): boolean => method === "GET" || method === "HEAD";

/** A request with a key in a header is judged by that key alone. */
export const acceptSessions = (
  authenticate: Authenticate,
  { keyCache, requests, clock }: SessionDependencies,
): Authenticate => {
  /** The session's key for an environment, as long as it is good. */
  const holderIn = ({ keyIds }: Session, environment: string): Principal | undefined =>
    keyIds
      .map((keyId) => keyCache.knownHolder(keyId))
      .find((holder) => holder?.environment.name === environment);

  const allowIn = (
    principal: Principal,
    { id, endsAt }: Session,
    needed: Parameters<Authenticate>[1],
  ) => {
    // Nobody but the browser has the session's id: what is sealed with it, the database alone does not open.
    const scope = createHash("sha256").update(id).digest("hex").slice(0, 16);
    const endsIn = endsAt - clock().getTime();
    return allow({ principal, keyText: `session ${id}`, scope, endsIn }, needed);
  };

  const look = async (
    session: Session,
    environment: string,
    needed: Parameters<Authenticate>[1],
  ): Promise<Authenticated> => {
    // One of the keys may have been issued by another instance a moment ago.
    await Promise.all(session.keyIds.map((keyId) => keyCache.holder(keyId)));
    const principal = holderIn(session, environment);
    return principal
      ? allowIn(principal, session, needed)
      : fail({
          code: "UNAUTHORIZED",
          message: `You are not signed in to the environment "${environment}"; its key may have been revoked.`,
        });
  };

  return (request, needed) => {
    const { headers } = request;
    if (headers.authorization !== undefined || headers["x-api-key"] !== undefined) {
      return authenticate(request, needed);
    }
    if (!requests.hasCookie(request)) return authenticate(request, needed);
    const session = requests.sessionOf(request);
    if (!session) return fail({ code: "UNAUTHORIZED", message: sessionOver });
    const refusal =
      requests.foreign(request) ??
      (isSafe(request) ? undefined : requests.unproven(request, session));
    if (refusal) return fail(refusal);
    const environment = headers["x-halyard-environment"];
    if (typeof environment !== "string" || environment === "") {
      return invalid("X-Halyard-Environment", "must name one of the session's environments");
    }
    const principal = holderIn(session, environment);
    return principal ? allowIn(principal, session, needed) : look(session, environment, needed);
  };
};
