// /session and /sign-in: an API key, or a link that is good once, becomes a session of the dashboard.
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ApiKeyCache } from "../../access/api-key-cache.ts";
import { may, type Principal } from "../../domain/principal.ts";
import { type Failure, fail, type Result } from "../../errors.ts";
import type { SignInLinks } from "../../management/sign-in-links.ts";
import type { KeyCheck } from "../auth/authenticate.ts";
import type { RateLimit } from "../auth/rate-limit.ts";
import { sessionOver } from "../auth/session-authenticate.ts";
import type { Session, SessionCookies } from "../auth/session-cookie.ts";
import type { SessionRequests } from "../auth/session-request.ts";
import { sendFailure } from "../errors/error-reply.ts";
import { noQuery } from "../openapi/schemas.ts";
import { type Static, Type } from "../openapi/type.ts";
import type { SendPage } from "./page.ts";

export interface SessionRouteDependencies {
  readonly keyCache: ApiKeyCache;
  readonly keyCheck: KeyCheck;
  /** Failed authentications, by address. */
  readonly failures: RateLimit;
  /** Requests, by key. */
  readonly perKey: RateLimit;
  readonly cookies: SessionCookies;
  readonly requests: SessionRequests;
  readonly links: SignInLinks;
  readonly sendPage: SendPage;
  readonly log: Pick<FastifyBaseLogger, "info">;
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
const noSession: Failure = { code: "UNAUTHORIZED", message: sessionOver };

export const sessionRoutes = (
  app: FastifyInstance,
  dependencies: SessionRouteDependencies,
): void => {
  const { keyCache, keyCheck, failures, perKey, cookies, requests, links, sendPage, log } =
    dependencies;

  /** Those of these keys that are good, the last of each environment. */
  const holdersOf = async (keyIds: readonly string[]): Promise<readonly Principal[]> => {
    const found = await Promise.all(keyIds.map((keyId) => keyCache.holder(keyId)));
    const byEnvironment = new Map<number, Principal>();
    for (const holder of found) {
      if (holder && may(holder, "dashboard.use")) byEnvironment.set(holder.environment.id, holder);
    }
    return [...byEnvironment.values()];
  };

  const show = (reply: FastifyReply, session: Session, holders: readonly Principal[]) =>
    reply.send({
      csrf: cookies.csrfToken(session),
      endsAt: new Date(session.endsAt).toISOString(),
      environments: holders
        .toSorted((a, b) => (a.environment.name < b.environment.name ? -1 : 1))
        .map(({ environment, role, actor, keyId }) => ({
          name: environment.name,
          role,
          keyName: actor.name,
          keyId,
        })),
    });

  /** Adds these keys to the session of the request, or begins one. */
  const signIn = async (
    request: FastifyRequest,
    reply: FastifyReply,
    keyIds: readonly string[],
  ): Promise<{ session: Session; holders: readonly Principal[] }> => {
    const earlier = requests.sessionOf(request);
    const holders = await holdersOf([...(earlier?.keyIds ?? []), ...keyIds]);
    const session = cookies.begin(
      holders.map(({ keyId }) => keyId),
      earlier,
    );
    requests.write(reply, session);
    log.info(
      {
        reqId: request.id,
        audit: "session.began",
        keyIds: session.keyIds,
        address: request.ip,
      },
      "signed in",
    );
    return { session, holders };
  };

  const tooMany = (reply: FastifyReply, what: string, wait: number): FastifyReply =>
    sendFailure(reply.header("retry-after", wait), {
      code: "RATE_LIMITED",
      message: `Too many ${what}; try again in ${wait} s.`,
    });

  app.get("/session", { schema: { hide: true, querystring: noQuery } }, async (request, reply) => {
    const foreign = requests.foreign(request);
    if (foreign) return sendFailure(reply, foreign);
    const session = requests.sessionOf(request);
    const holders = session ? await holdersOf(session.keyIds) : [];
    if (!session || holders.length === 0) {
      if (requests.hasCookie(request)) requests.clear(reply);
      return sendFailure(reply, noSession);
    }
    return show(reply, session, holders);
  });

  app.post<{ Body: Static<typeof SignInBody> }>(
    "/session",
    {
      config: { countedAlone: true },
      schema: { hide: true, querystring: noQuery, body: SignInBody },
    },
    async (request, reply) => {
      const foreign = requests.foreign(request);
      if (foreign) return sendFailure(reply, foreign);
      const checked = await keyCheck.check(request.body.key.trim(), request, "dashboard.use");
      if (!checked.ok) {
        if ("wait" in checked) reply.header("retry-after", checked.wait);
        return sendFailure(reply, checked.failure);
      }
      const { keyId } = checked.value.principal;
      const wait = perKey.take(keyId);
      if (wait !== undefined) return tooMany(reply, "requests with this API key", wait);
      const { session, holders } = await signIn(request, reply, [keyId]);
      return show(reply, session, holders);
    },
  );

  /** The session that a request may change; undefined when it has none. */
  const changeable = (request: FastifyRequest): Result<Session | undefined> => {
    const foreign = requests.foreign(request);
    if (foreign) return fail(foreign);
    const session = requests.sessionOf(request);
    const unproven = session && requests.unproven(request, session);
    return unproven ? fail(unproven) : { ok: true, value: session };
  };

  app.delete("/session", { schema: { hide: true, querystring: noQuery } }, (request, reply) => {
    const session = changeable(request);
    if (!session.ok) return sendFailure(reply, session.failure);
    requests.clear(reply);
    return reply.code(204).send();
  });

  app.delete<{ Params: { environment: string } }>(
    "/session/:environment",
    { schema: { hide: true, querystring: noQuery } },
    async (request, reply) => {
      const session = changeable(request);
      if (!session.ok) return sendFailure(reply, session.failure);
      if (!session.value) return sendFailure(reply, noSession);
      const { environment } = request.params;
      const left = (await holdersOf(session.value.keyIds))
        .filter((holder) => holder.environment.name !== environment)
        .map(({ keyId }) => keyId);
      if (left.length === 0) requests.clear(reply);
      else requests.write(reply, { ...session.value, keyIds: left });
      return reply.code(204).send();
    },
  );

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
      const isGood = keyIds !== undefined && (await holdersOf(keyIds)).length > 0;
      if (!isGood) {
        failures.take(request.ip);
        return reply.redirect(expired, 303);
      }
      await signIn(request, reply, keyIds);
      return reply.redirect("/", 303);
    },
  );
};
