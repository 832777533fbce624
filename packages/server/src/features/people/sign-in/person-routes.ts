// What the routes of signing in share: whose session it is, what is refused, and what the audit log is told.
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from "fastify";
import type { Attempts } from "../../../platform/auth/attempts.ts";
import type { RateLimit } from "../../../platform/auth/rate-limit.ts";
import { sessionOver } from "../../../platform/auth/session-authenticate.ts";
import type { SessionRequests } from "../../../platform/auth/session-request.ts";
import type { Session, Sessions } from "../../../platform/auth/sessions.ts";
import { type Failure, fail, ok, type Result, signInAgain } from "../../../platform/errors.ts";
import { sendFailure } from "../../../platform/http/errors/error-reply.ts";
import { invitationOver, type Place, type SignedIn } from "./password-sign-in.ts";
import { codeNeeded } from "./second-factors.ts";

export interface PersonRouteParts {
  readonly sessions: Sessions;
  readonly requests: SessionRequests;
  /** Failed authentications, by address. */
  readonly failures: RateLimit;
  readonly attempts: Attempts;
  readonly log: Pick<FastifyBaseLogger, "info">;
  /** Answers as GET /session does. */
  readonly show: (reply: FastifyReply, session: Session) => Promise<FastifyReply>;
  /** Signs those who came with keys out of one environment. */
  readonly leave: (
    request: FastifyRequest,
    reply: FastifyReply,
    environment: string,
  ) => Promise<FastifyReply>;
}

/** A session of a person. */
export type PersonSession = Session & { readonly userId: string };

type Handler = (session: PersonSession) => Promise<FastifyReply>;

export interface PersonRoutes extends PersonRouteParts {
  /** The request's session, whoever it speaks for; it is not used by being looked at. */
  sessionOf(request: FastifyRequest): Promise<Session | undefined>;
  /** Serves a person who is signed in, from our own page; for a change also with the token of the session. `otherwise` serves those who came with keys. */
  asPerson(
    request: FastifyRequest,
    reply: FastifyReply,
    next: Handler,
    otherwise?: () => Promise<FastifyReply>,
  ): Promise<FastifyReply>;
  /** The same for those who have signed in a short while ago. */
  asFreshPerson: PersonRoutes["asPerson"];
  /** One attempt to sign in to an account: counted, limited, audited and answered. */
  attempt(
    request: FastifyRequest,
    reply: FastifyReply,
    attempt: {
      /** Undefined when it is none that exists. */
      readonly account: string | undefined;
      readonly work: () => Promise<SignedIn>;
    },
  ): Promise<FastifyReply>;
  tooMany(reply: FastifyReply, what: string, wait: number): FastifyReply;
  readonly audit: (
    request: FastifyRequest,
    action: string,
    message: string,
    fields: object,
  ) => void;
}

const noSession: Failure = { code: "UNAUTHORIZED", message: sessionOver };
const notAPerson: Failure = {
  code: "FORBIDDEN",
  message: "This is for people who have an account; you are signed in with a key or a link.",
};

export const placeOf = (request: FastifyRequest): Place => ({
  address: request.ip,
  agent: request.headers["user-agent"] ?? null,
});

const isSafe = ({ method }: FastifyRequest): boolean => method === "GET" || method === "HEAD";

export const createPersonRoutes = (parts: PersonRouteParts): PersonRoutes => {
  const { sessions, requests, failures, attempts, log, show } = parts;

  const sessionOf: PersonRoutes["sessionOf"] = (request) =>
    sessions.find(requests.tokenIn(request) ?? "");

  const audit: PersonRoutes["audit"] = (request, action, message, fields) => {
    const { id: reqId, ip: address } = request;
    log.info({ reqId, audit: `session.${action}`, ...fields, address }, message);
  };

  const tooMany: PersonRoutes["tooMany"] = (reply, what, wait) =>
    sendFailure(reply.header("retry-after", wait), {
      code: "RATE_LIMITED",
      message: `Too many ${what}; try again in ${wait} s.`,
    });

  const personOf = async (request: FastifyRequest): Promise<Result<PersonSession>> => {
    const wrongOrigin = requests.checkOrigin(request);
    if (wrongOrigin) return fail(wrongOrigin);
    const session = await sessions.use(requests.tokenIn(request) ?? "");
    if (!session) return fail(noSession);
    const wrongToken = isSafe(request) ? undefined : requests.checkCsrf(request, session);
    if (wrongToken) return fail(wrongToken);
    const { userId } = session;
    return userId === null ? fail(notAPerson) : ok({ ...session, userId });
  };

  const asPerson: PersonRoutes["asPerson"] = async (request, reply, next, otherwise) => {
    const person = await personOf(request);
    if (person.ok) return next(person.value);
    return person.failure === notAPerson && otherwise
      ? otherwise()
      : sendFailure(reply, person.failure);
  };

  return {
    ...parts,
    sessionOf,
    audit,
    tooMany,
    asPerson,

    asFreshPerson: (request, reply, next, otherwise) =>
      asPerson(
        request,
        reply,
        async (session) =>
          sessions.isFresh(session) ? next(session) : sendFailure(reply, signInAgain),
        otherwise,
      ),

    async attempt(request, reply, { account, work }) {
      const slow = failures.waiting(request.ip);
      if (slow !== undefined) {
        return tooMany(reply, "failed authentications from this address", slow);
      }
      const wait = account === undefined ? undefined : attempts.begin(account, request.ip);
      if (wait !== undefined) return tooMany(reply, "attempts to sign in to this account", wait);
      const signedIn = await work();
      if (!signedIn.ok) {
        const { failure, userId } = signedIn;
        if (failure.code !== "UNAUTHORIZED") {
          // Nothing was tried: a new password was too short, or too many wait.
          if (account !== undefined) attempts.takeBack(account, request.ip);
        } else if (failure !== codeNeeded) {
          failures.take(request.ip);
          const wrong =
            failure === invitationOver ? "invitation" : (failure.details?.[0]?.field ?? "password");
          const who = userId === null ? {} : { userId };
          audit(request, "failed", "a sign-in was refused", { wrong, ...who });
        }
        return sendFailure(reply, failure);
      }
      if (account !== undefined) attempts.succeeded(account, request.ip);
      requests.write(reply, signedIn.value);
      return show(reply, signedIn.value);
    },
  };
};
