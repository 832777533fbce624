// The dashboard as a whole: its page and its sessions.
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ApiKeyCache } from "../../access/api-key-cache.ts";
import type { Sessions } from "../../access/sessions.ts";
import type { ProviderSignIn } from "../../management/people/provider-sign-in.ts";
import type { SignInLinks } from "../../management/sign-in-links.ts";
import type { Clock, Reader } from "../../ports.ts";
import type { Providers } from "../../providers/provider.ts";
import type { KeyCheck } from "../auth/authenticate.ts";
import { createCookies } from "../auth/cookies.ts";
import type { RateLimit } from "../auth/rate-limit.ts";
import type { Seal } from "../auth/seal.ts";
import type { SessionRequests } from "../auth/session-request.ts";
import type { DashboardFiles } from "./files.ts";
import { createFlowCookie } from "./flow-cookie.ts";
import { createSendPage, dashboardRoutes, isBrowsing } from "./page.ts";
import { createSignOutUrl, providerRoutes } from "./provider-routes.ts";
import { sessionRoutes } from "./session.ts";

export interface DashboardDependencies {
  /** Undefined when it is not built. */
  readonly files: DashboardFiles | undefined;
  readonly sessions: Sessions;
  readonly links: SignInLinks;
  readonly reads: Pick<Reader, "user" | "environments">;
  /** That people sign in with; empty when there are none. */
  readonly providers: Providers;
  readonly providerSignIn: ProviderSignIn;
  readonly seal: Seal;
  readonly clock: Clock;
}

interface AppParts extends DashboardDependencies {
  readonly keyCache: ApiKeyCache;
  readonly keyCheck: KeyCheck;
  readonly failures: RateLimit;
  readonly perKey: RateLimit;
  readonly requests: SessionRequests;
  readonly publicUrl: string | undefined;
  readonly log: FastifyBaseLogger;
}

/** The page at an address that does not exist; undefined when the request does not ask for a page. */
export const createUnknownPage = ({ files }: Pick<DashboardDependencies, "files">) => {
  const sendPage = createSendPage(files);
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined =>
    files && isBrowsing(request) ? sendPage(request, reply.code(404)) : undefined;
};

export const openDashboard = (app: FastifyInstance, parts: AppParts): void => {
  const sendPage = createSendPage(parts.files);
  dashboardRoutes(app, parts.files, sendPage);
  const { providers, seal, clock } = parts;
  sessionRoutes(app, { ...parts, sendPage, signOutUrl: createSignOutUrl(providers, seal) });
  if (providers.size === 0) return;
  const flows = createFlowCookie(createCookies(parts.publicUrl), seal, clock);
  providerRoutes(app, { ...parts, signIn: parts.providerSignIn, flows });
};
