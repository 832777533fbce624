// The dashboard as a whole: its page and its sessions.
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Attempts } from "../../../platform/auth/attempts.ts";
import type { KeyCheck } from "../../../platform/auth/authenticate.ts";
import { createCookies } from "../../../platform/auth/cookies.ts";
import type { ApiKeyCache } from "../../../platform/auth/key-cache.ts";
import type { RateLimit } from "../../../platform/auth/rate-limit.ts";
import type { SessionRequests } from "../../../platform/auth/session-request.ts";
import type { Sessions } from "../../../platform/auth/sessions.ts";
import type { Db } from "../../../platform/database/db.ts";
import type { Clock } from "../../../platform/database/store.ts";
import type { DashboardFiles } from "../../../platform/http/dashboard-files.ts";
import {
  createSendPage,
  dashboardRoutes,
  isBrowsing,
} from "../../../platform/http/dashboard-page.ts";
import { createFlowCookie } from "./flow-cookie.ts";
import type { SignInLinks } from "./links.ts";
import type { PasswordRouteDependencies } from "./password-routes.ts";
import { createSignOutUrl, providerRoutes, type SingleSignOn } from "./provider-routes.ts";
import type { SecondFactors } from "./second-factors.ts";
import { sessionRoutes } from "./session-routes.ts";

export interface DashboardDependencies extends PasswordRouteDependencies {
  /** Undefined when it is not built. */
  readonly files: DashboardFiles | undefined;
  readonly sessions: Sessions;
  readonly links: SignInLinks;
  readonly db: Db;
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
