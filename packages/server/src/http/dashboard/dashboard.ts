// The dashboard as a whole: its page and its sessions.
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ApiKeyCache } from "../../access/api-key-cache.ts";
import type { SecondFactors } from "../../access/second-factor.ts";
import type { Sessions } from "../../access/sessions.ts";
import type { SignInLinks } from "../../management/sign-in-links.ts";
import type { Clock, Reader } from "../../ports.ts";
import type { Attempts } from "../auth/attempts.ts";
import type { KeyCheck } from "../auth/authenticate.ts";
import { createCookies } from "../auth/cookies.ts";
import type { RateLimit } from "../auth/rate-limit.ts";
import type { SessionRequests } from "../auth/session-request.ts";
import type { DashboardFiles } from "./files.ts";
import { createSendPage, dashboardRoutes, isBrowsing } from "./page.ts";
import { sessionRoutes } from "./session.ts";
import { createFlowCookie } from "./sign-in/flow-cookie.ts";
import type { PasswordRouteDependencies } from "./sign-in/password.ts";
import { createSignOutUrl, providerRoutes, type SingleSignOn } from "./sign-in/provider.ts";

export interface DashboardDependencies extends PasswordRouteDependencies {
  /** Undefined when it is not built. */
  readonly files: DashboardFiles | undefined;
  readonly sessions: Sessions;
  readonly links: SignInLinks;
  readonly reads: Pick<Reader, "user" | "environments">;
  readonly singleSignOn: SingleSignOn;
  readonly secondFactors: SecondFactors;
  readonly clock: Clock;
}

interface AppParts extends DashboardDependencies {
  readonly keyCache: ApiKeyCache;
  readonly keyCheck: KeyCheck;
  readonly failures: RateLimit;
  readonly attempts: Attempts;
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
  const { singleSignOn, clock } = parts;
  sessionRoutes(app, { ...parts, sendPage, signOutUrl: createSignOutUrl(singleSignOn) });
  const flows = createFlowCookie(createCookies(parts.publicUrl), singleSignOn.seal, clock);
  providerRoutes(app, { ...parts, ...singleSignOn, flows });
};
