// Lets the dashboard's page ask with its session in the place of an API key.
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { fail, invalid, signInAgain } from "../errors.ts";
import { type Authenticate, type Authenticated, allow } from "./authenticate.ts";
import type { ApiKeyCache } from "./key-cache.ts";
import { needsFreshSignIn, type Principal } from "./principal.ts";
import type { SessionHolder } from "./session.ts";
import type { SessionRequests } from "./session-request.ts";
import type { Session, Sessions } from "./sessions.ts";

export interface SessionDependencies {
  readonly keyCache: Pick<ApiKeyCache, "catchUp" | "knownHolder" | "accessOf">;
  readonly requests: SessionRequests;
  readonly sessions: Sessions;
}

export const sessionOver =
  "You are not signed in, or your session has ended; sign in with the dashboard.";

/** Who a session is in each of its environments, from memory. */
export const knownHolders = (
  keyCache: Pick<ApiKeyCache, "knownHolder" | "accessOf">,
  { keyIds, userId, link }: SessionHolder,
): readonly Principal[] => {
  const holders =
    userId === null
      ? keyIds.map((keyId) => keyCache.knownHolder(keyId)).filter((holder) => holder !== undefined)
      : keyCache.accessOf(userId);
  // Any other key in the session keeps its own role, and doesn't extend the rights of the link.
  if (!holders.some(({ keyId }) => link?.carried.includes(keyId))) return holders;
  const withRights = new Set([...(link?.carried ?? []), ...(link?.created ?? [])]);
  return holders.map((holder) =>
    holder.role === "admin" && withRights.has(holder.keyId) ? { ...holder, role: "owner" } : holder,
  );
};

const isSafe = ({ method }: FastifyRequest): boolean => method === "GET" || method === "HEAD";

/** A request with a key in a header is judged by that key alone. */
export const acceptSessions = (
  authenticate: Authenticate,
  { keyCache, requests, sessions }: SessionDependencies,
): Authenticate => {
  /** Who the session is in an environment, as long as they may use it. */
  const holderIn = (session: Session, environment: string): Principal | undefined =>
    knownHolders(keyCache, session).find((holder) => holder.environment.name === environment);

  const allowIn = (holder: Principal, session: Session, needed: Parameters<Authenticate>[1]) => {
    const { token } = session;
    const isStale = !sessions.isFresh(session);
    const principal = isStale ? { ...holder, isStale } : holder;
    // Nobody but the browser has the session's token: what is sealed with it, the database alone does not open.
    const scope = createHash("sha256").update(`scope ${token}`).digest("hex").slice(0, 16);
    const isOpen = async () => (await sessions.find(token)) !== undefined;
    const allowed = allow(
      { principal, keyText: `session ${token}`, scope, isOpen, session },
      needed,
    );
    return allowed.ok && needsFreshSignIn(needed) && isStale ? fail(signInAgain) : allowed;
  };

  const inEnvironment = async (
    session: Session,
    environment: string,
    needed: Parameters<Authenticate>[1],
  ): Promise<Authenticated> => {
    const known = holderIn(session, environment);
    if (known) return allowIn(known, session, needed);
    // One of the keys may have been issued by another instance a moment ago.
    await keyCache.catchUp();
    const principal = holderIn(session, environment);
    return principal
      ? allowIn(principal, session, needed)
      : fail({
          code: "UNAUTHORIZED",
          message:
            session.userId === null
              ? `You are not signed in to the environment "${environment}"; its key may have been revoked.`
              : `You have no access to the environment "${environment}", or it does not exist.`,
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
      requests.checkOrigin(request) ??
      (isSafe(request) ? undefined : requests.checkCsrf(request, session));
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
