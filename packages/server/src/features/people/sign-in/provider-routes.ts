// /sign-in/oidc: people sign in with an OpenID Connect provider, and sign out there.
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Seal } from "../../../platform/auth/seal.ts";
import type { SessionRequests } from "../../../platform/auth/session-request.ts";
import type { Session, Sessions } from "../../../platform/auth/sessions.ts";
import type { Clock } from "../../../platform/database/store.ts";
import type { BrowserFlow, FlowCookie } from "./flow-cookie.ts";
import { ownPath } from "./own-path.ts";
import type { ProviderSignIn } from "./provider-sign-in.ts";
import type { Provider, Providers } from "./providers/provider.ts";

export interface SingleSignOn {
  /** Empty when there are none. */
  readonly providers: Providers;
  readonly signIn: ProviderSignIn;
  readonly seal: Seal;
}

export interface ProviderRouteDependencies extends SingleSignOn {
  readonly sessions: Sessions;
  readonly requests: SessionRequests;
  readonly flows: FlowCookie;
  readonly clock: Clock;
  readonly log: Pick<FastifyBaseLogger, "info" | "warn">;
}

/** Why it did not work, as the sign-in page tells it. */
type FailedCode = "state" | "denied" | "provider" | "no-access" | "subject";

type Asked = { readonly to?: unknown; readonly again?: unknown; readonly invitation?: unknown };
type ToProvider = { Params: { provider: string }; Querystring: Asked };

/** What the sealed id token of a session is bound to. */
const tokenPurpose = "id token";

/** Those of invitations are shorter. */
const maxTokenLength = 100;

/** Without the codes and tokens that an error may quote. */
const told = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const parts = [error.message, "code" in error && error.code, "error" in error && error.error];
  const { cause } = error;
  if (cause instanceof Error) parts.push(cause.message);
  return parts.filter((part) => typeof part === "string").join("; ");
};

export const providerRoutes = (
  app: FastifyInstance,
  dependencies: ProviderRouteDependencies,
): void => {
  const { providers, signIn, sessions, requests, flows, seal, clock, log } = dependencies;
  if (providers.size === 0) return;

  const leave = (reply: FastifyReply, to: string): FastifyReply =>
    reply.header("referrer-policy", "no-referrer").redirect(to, 303);
  const refuse = (reply: FastifyReply, code: FailedCode): FastifyReply =>
    leave(reply, `/sign-in?failed=${code}`);

  const failed = (request: FastifyRequest, provider: string, error: unknown): void =>
    log.warn(
      {
        ...{ reqId: request.id, audit: "session.failed", method: `oidc:${provider}` },
        ...{ problem: told(error), address: request.ip },
      },
      "a sign-in with a provider failed",
    );

  app.get<ToProvider>(
    "/sign-in/oidc/:provider",
    { config: { ownRateLimit: true }, exposeHeadRoute: false, schema: { hide: true } },
    async (request, reply) => {
      const provider = providers.get(request.params.provider);
      if (!provider) return reply.callNotFound();
      const { to, again, invitation } = request.query;
      const session = await sessions.find(requests.tokenIn(request) ?? "");
      const isAgain = again === "1";
      // Another site may send people here, as providers do from a list of applications; it may not do more.
      const isForeign = requests.checkOrigin(request) !== undefined;
      const token = typeof invitation === "string" ? invitation.slice(0, maxTokenLength) : null;
      const isUnwanted = invitation !== undefined && (token === null || isForeign);
      if (isUnwanted || (isAgain && !session?.userId)) return refuse(reply, "state");
      try {
        const { url, secrets } = await provider.begin(isAgain);
        flows.write(reply, {
          ...secrets,
          provider: provider.settings.id,
          isFresh: isAgain,
          beganAt: clock(),
          to: ownPath(to),
          invitation: token,
          expected: isAgain ? (session?.userId ?? null) : null,
          earlier: session?.token ?? null,
        });
        return leave(reply, url);
      } catch (error) {
        failed(request, provider.settings.id, error);
        return refuse(reply, "provider");
      }
    },
  );

  /** The browser has been to the provider, and this is its way back. */
  const finish = async (
    request: FastifyRequest,
    reply: FastifyReply,
    provider: Provider,
    flow: BrowserFlow,
  ): Promise<FastifyReply> => {
    const { id } = provider.settings;
    const query = request.url.slice(request.url.indexOf("?"));
    const answer = await provider.finish(query, flow);
    if (answer.kind !== "proven") {
      failed(request, id, answer.error);
      const codes = { denied: "denied", over: "state", failed: "provider" } as const;
      return refuse(reply, codes[answer.kind]);
    }
    const { identity, claims, provenAt, idToken } = answer;
    const { invitation, expected } = flow;
    const earlier = await sessions.find(flow.earlier ?? "");
    // They have signed out, or were signed out, while they were away.
    if (expected !== null && earlier?.userId !== expected) return refuse(reply, "state");
    const arrived = await signIn.arrive(
      { settings: provider.settings, identity, claims, invitation, expected },
      (transaction, userId) =>
        sessions.begin(
          {
            keyIds: [],
            userId,
            link: null,
            method: `oidc:${id}`,
            address: request.ip,
            agent: request.headers["user-agent"] ?? null,
            providerToken: seal.seal(idToken, tokenPurpose),
            // The provider may know them since long ago: then nobody has proven anything just now.
            signedInAt: provenAt ?? new Date(0),
          },
          earlier,
          transaction,
        ),
    );
    if (arrived.kind === "invitation-over") return leave(reply, "/sign-in?link=expired");
    if (arrived.kind !== "in") {
      failed(request, id, arrived.reason);
      return refuse(reply, arrived.kind);
    }
    requests.write(reply, arrived.value);
    const { userId, isNew, isAddressTaken } = arrived;
    const { method } = arrived.value;
    const who = { userId, method, isNew, address: request.ip };
    if (isAddressTaken) {
      log.warn(
        { reqId: request.id, userId },
        "another account had this address first: groups give this one no roles until an owner links the two",
      );
    }
    log.info({ reqId: request.id, audit: "session.began", ...who }, "signed in");
    return leave(reply, flow.to);
  };

  app.get<{ Params: { provider: string }; Querystring: { state?: unknown } }>(
    "/sign-in/oidc/:provider/callback",
    { config: { ownRateLimit: true }, exposeHeadRoute: false, schema: { hide: true } },
    async (request, reply) => {
      const provider = providers.get(request.params.provider);
      if (!provider) return reply.callNotFound();
      const flow = flows.take(request, reply, provider.settings.id);
      return flow && request.query.state === flow.state
        ? finish(request, reply, provider, flow)
        : refuse(reply, "state");
    },
  );
};

export type SignOutUrl = (session: Session) => Promise<string | undefined>;

/** Where somebody whose session has ended signs out at their provider; undefined when there is no such place. */
export const createSignOutUrl =
  ({ providers, seal }: SingleSignOn): SignOutUrl =>
  async ({ method, providerToken }) => {
    const provider = providers.get(/^oidc:(.*)$/.exec(method)?.[1] ?? "");
    const idToken = providerToken === null ? undefined : seal.open(providerToken, tokenPurpose);
    return provider?.signOutUrl(idToken);
  };
