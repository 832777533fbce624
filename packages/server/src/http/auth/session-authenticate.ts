// Lets the dashboard's page ask with its session in the place of an API key.
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { ApiKeyCache } from "../../access/api-key-cache.ts";
import type { Session, Sessions } from "../../access/sessions.ts";
import type { Principal } from "../../domain/principal.ts";
import { fail, invalid } from "../../errors.ts";
import { type Authenticate, type Authenticated, allow } from "./authenticate.ts";
import type { SessionRequests } from "./session-request.ts";

export interface SessionDependencies {
  readonly keyCache: Pick<ApiKeyCache, "holder" | "knownHolder">;
  readonly requests: SessionRequests;
  readonly sessions: Sessions;
}

export const sessionOver =
  "You are not signed in, or your session has ended; sign in with the dashboard.";

const isSafe = ({ method }: FastifyRequest): boolean => method === "GET" || method === "HEAD";

/** A request with a key in a header is judged by that key alone. */
export const acceptSessions = (
  authenticate: Authenticate,
  { keyCache, requests, sessions }: SessionDependencies,
): Authenticate => {
  /** The session's key for an environment, as long as it is good. */
  const holderIn = ({ keyIds }: Session, environment: string): Principal | undefined =>
    keyIds
      .map((keyId) => keyCache.knownHolder(keyId))
      .find((holder) => holder?.environment.name === environment);

  const allowIn = (
    principal: Principal,
    { token }: Session,
    needed: Parameters<Authenticate>[1],
  ) => {
    // Nobody but the browser has the session's token: what is sealed with it, the database alone does not open.
    const scope = createHash("sha256").update(`scope ${token}`).digest("hex").slice(0, 16);
    const isOpen = async () => (await sessions.find(token)) !== undefined;
    return allow({ principal, keyText: `session ${token}`, scope, isOpen }, needed);
  };

  const inEnvironment = async (
    session: Session,
    environment: string,
    needed: Parameters<Authenticate>[1],
  ): Promise<Authenticated> => {
    const known = holderIn(session, environment);
    if (known) return allowIn(known, session, needed);
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

  const bySession = async (
    request: FastifyRequest,
    needed: Parameters<Authenticate>[1],
  ): Promise<Authenticated> => {
    const token = requests.tokenIn(request) ?? "";
    // What the page does while nobody touches it does not keep the session alive.
    const isInBackground = request.headers["x-halyard-background"] !== undefined;
    const session = await (isInBackground ? sessions.find(token) : sessions.use(token));
    if (!session) return fail({ code: "UNAUTHORIZED", message: sessionOver });
    const refusal =
      requests.foreign(request) ??
      (isSafe(request) ? undefined : requests.unproven(request, session));
    if (refusal) return fail(refusal);
    const environment = request.headers["x-halyard-environment"];
    if (typeof environment !== "string" || environment === "") {
      return invalid("X-Halyard-Environment", "must name one of the session's environments");
    }
    return inEnvironment(session, environment, needed);
  };

  return (request, needed) => {
    const { headers } = request;
    if (headers.authorization !== undefined || headers["x-api-key"] !== undefined) {
      return authenticate(request, needed);
    }
    return requests.hasCookie(request) ? bySession(request, needed) : authenticate(request, needed);
  };
};
