// /session and /sign-in: an API key, or a link that is good once, becomes a session of the dashboard.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";
import type { KeyCheck } from "../../../platform/auth/authenticate.ts";
import type { ApiKeyCache } from "../../../platform/auth/key-cache.ts";
import type { RateLimit } from "../../../platform/auth/rate-limit.ts";
import { sessionOver } from "../../../platform/auth/session-authenticate.ts";
import type { NewSession, Session } from "../../../platform/auth/sessions.ts";
import type { Db } from "../../../platform/database/db.ts";
import { type Failure, fail, type Result } from "../../../platform/errors.ts";
import type { SendPage } from "../../../platform/http/dashboard-page.ts";
import { sendFailure } from "../../../platform/http/errors/error-reply.ts";
import { noQuery } from "../../../platform/http/openapi/schemas.ts";
import type { SignInLinks } from "./links.ts";
import type { SignOutUrl } from "./provider-routes.ts";
import { type SignInDependencies, signInRoutes } from "./routes.ts";
import { createSessionAnswers } from "./session-body.ts";

export interface SessionRouteDependencies extends SignInDependencies {
  readonly keyCache: ApiKeyCache;
  readonly keyCheck: KeyCheck;
  /** Requests, by key. */
  readonly perKey: RateLimit;
  readonly links: SignInLinks;
  readonly signOutUrl: SignOutUrl;
  readonly db: Db;
  readonly sendPage: SendPage;
}

const SignInBody = Type.Object(
  {
    key: Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: "An API key with the role server or admin.",
      "x-must-be": "an API key",
    }),
  },
  { additionalProperties: false },
);

const expired = "/sign-in?link=expired";
const asOnePerson: Failure = {
  code: "CONFLICT",
  message: "You are signed in as one person everywhere; sign out of all of it.",
};
const noSession: Failure = { code: "UNAUTHORIZED", message: sessionOver };

export const sessionRoutes = (
  app: FastifyInstance,
  dependencies: SessionRouteDependencies,
): void => {
  const { keyCheck, failures, perKey, sessions, requests, links, sendPage, log } = dependencies;

  const { holdersOf, hasLinkRights, answerOf } = createSessionAnswers(dependencies);

  const show = async (reply: FastifyReply, session: Session) => {
    const answer = await answerOf(session);
    if (answer) return reply.send(answer);
    if (requests.hasCookie(reply.request)) requests.clear(reply);
    return sendFailure(reply, noSession);
  };

  /** Looking at a session does not use it: the page does so by itself. */
  const sessionOf = async (request: FastifyRequest): Promise<Session | undefined> => {
    return sessions.find(requests.tokenIn(request) ?? "");
  };

  const audit = (
    request: FastifyRequest,
    action: "began" | "left" | "ended",
    message: string,
    fields: object,
  ): void => {
    const { id: reqId, ip: address } = request;
    log.info({ reqId, audit: `session.${action}`, ...fields, address }, message);
  };

  /** Begins a session with these keys and those of the request's own, in whose place it comes. */
  const signIn = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { keyIds, method }: Pick<NewSession, "keyIds" | "method">,
  ): Promise<Session> => {
    const earlier = await sessionOf(request);
    // A person and a key are not one another: whoever signs in with a key is no longer signed in as a person.
    const before = earlier?.userId === null ? earlier : undefined;
    // The keys of a link end its rights, and another key does not make them last longer.
    const inherited = before && (await hasLinkRights(before)) ? before.link : null;
    const link = method === "link" ? { carried: keyIds, created: [] } : inherited;
    const all = [...(before?.keyIds ?? []), ...keyIds];
    const holders = await holdersOf({ keyIds: all, userId: null, link });
    const session = await sessions.begin(
      {
        keyIds: holders.map(({ keyId }) => keyId),
        userId: null,
        link,
        method,
        address: request.ip,
        agent: request.headers["user-agent"] ?? null,
        ...(before && method !== "link" && inherited && { endsAt: before.endsAt }),
      },
      earlier,
    );
    requests.write(reply, session);
    audit(request, "began", "signed in", { keyIds: session.keyIds, method });
    return session;
  };

  const tooMany = (reply: FastifyReply, what: string, wait: number): FastifyReply =>
    sendFailure(reply.header("retry-after", wait), {
      code: "RATE_LIMITED",
      message: `Too many ${what}; try again in ${wait} s.`,
    });

  app.get("/session", { schema: { hide: true, querystring: noQuery } }, async (request, reply) => {
    const wrongOrigin = requests.checkOrigin(request);
    if (wrongOrigin) return sendFailure(reply, wrongOrigin);
    const found = await sessionOf(request);
    if (found) {
      // Whose rights have changed gets a new token.
      const session = await sessions.refresh(found);
      if (session !== found) requests.write(reply, session);
      return show(reply, session);
    }
    if (requests.hasCookie(request)) requests.clear(reply);
    return sendFailure(reply, noSession);
  });

  app.post<{ Body: Static<typeof SignInBody> }>(
    "/session",
    {
      config: { ownRateLimit: true },
      schema: { hide: true, querystring: noQuery, body: SignInBody },
    },
    async (request, reply) => {
      const wrongOrigin = requests.checkOrigin(request);
      if (wrongOrigin) return sendFailure(reply, wrongOrigin);
      const checked = await keyCheck.check(request.body.key.trim(), request, "dashboard.use");
      if (!checked.ok) {
        if (checked.wait !== undefined) reply.header("retry-after", checked.wait);
        request.refused = checked.principal;
        return sendFailure(reply, checked.failure);
      }
      const { keyId } = checked.value.principal;
      const wait = perKey.take(keyId);
      if (wait !== undefined) return tooMany(reply, "requests with this API key", wait);
      return show(reply, await signIn(request, reply, { keyIds: [keyId], method: "key" }));
    },
  );

  /** The session that a request may change; undefined when it has none. */
  const changeable = async (request: FastifyRequest): Promise<Result<Session | undefined>> => {
    const wrongOrigin = requests.checkOrigin(request);
    if (wrongOrigin) return fail(wrongOrigin);
    const session = await sessionOf(request);
    const wrongToken = session && requests.checkCsrf(request, session);
    return wrongToken ? fail(wrongToken) : { ok: true, value: session };
  };

  const end = async (request: FastifyRequest, reply: FastifyReply, session: Session) => {
    await sessions.end(session);
    const { keyIds, userId } = session;
    audit(request, "ended", "signed out", userId === null ? { keyIds } : { userId });
    requests.clear(reply);
  };

  app.delete(
    "/session",
    { schema: { hide: true, querystring: noQuery } },
    async (request, reply) => {
      const session = await changeable(request);
      if (!session.ok) return sendFailure(reply, session.failure);
      if (session.value) await end(request, reply, session.value);
      else requests.clear(reply);
      const signOutUrl = session.value && (await dependencies.signOutUrl(session.value));
      return signOutUrl === undefined ? reply.code(204).send() : reply.send({ signOutUrl });
    },
  );

  const leave = async (request: FastifyRequest, reply: FastifyReply, environment: string) => {
    const session = await changeable(request);
    if (!session.ok) return sendFailure(reply, session.failure);
    if (!session.value) return sendFailure(reply, noSession);
    if (session.value.userId !== null) return sendFailure(reply, asOnePerson);
    const rest = (await holdersOf(session.value))
      .filter((holder) => holder.environment.name !== environment)
      .map(({ keyId }) => keyId);
    if (rest.length === 0) await end(request, reply, session.value);
    else {
      await sessions.keep(session.value, { keyIds: rest, link: session.value.link });
      audit(request, "left", "signed out of an environment", { environment, keyIds: rest });
    }
    return reply.code(204).send();
  };

  app.delete<{ Params: { environment: string } }>(
    "/session/:environment",
    { schema: { hide: true, querystring: noQuery } },
    (request, reply) => leave(request, reply, request.params.environment),
  );
  signInRoutes(app, { ...dependencies, show, leave });

  app.get<{ Querystring: { once?: unknown } }>(
    "/sign-in",
    { schema: { hide: true } },
    async (request, reply) => {
      const { once } = request.query;
      // A question about the link does not use it up.
      if (once === undefined || request.method === "HEAD") return sendPage(request, reply);
      reply.header("referrer-policy", "no-referrer");
      const wait = failures.waiting(request.ip);
      if (wait !== undefined)
        return tooMany(reply, "failed authentications from this address", wait);
      const keyIds = typeof once === "string" ? await links.redeem(once) : undefined;
      const [holder] = keyIds ? await holdersOf({ keyIds, userId: null, link: null }) : [];
      if (!keyIds || holder === undefined) {
        failures.take(request.ip);
        return reply.redirect(expired, 303);
      }
      await signIn(request, reply, { keyIds, method: "link" });
      // The page requests the flags of the environment that its address names before it knows the session.
      return reply.redirect(`/environments/${holder.environment.name}/flags`, 303);
    },
  );
};
