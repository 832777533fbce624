// The dashboard as a whole: its page, its sessions, and that the API takes them.
import type { FastifyInstance } from "fastify";
import type { ApiKeyCache } from "../../access/api-key-cache.ts";
import type { SignInLinks } from "../../management/sign-in-links.ts";
import type { Clock } from "../../ports.ts";
import type { Authenticate, KeyCheck } from "../auth/authenticate.ts";
import type { RateLimit } from "../auth/rate-limit.ts";
import { acceptSessions } from "../auth/session-authenticate.ts";
import type { SessionCookies } from "../auth/session-cookie.ts";
import { createSessionRequests } from "../auth/session-request.ts";
import type { DashboardFiles } from "./files.ts";
import { dashboardRoutes } from "./page.ts";
import { sessionRoutes } from "./session.ts";

export interface DashboardDependencies {
  /** Undefined when it is not built. */
  readonly files: DashboardFiles | undefined;
  readonly cookies: SessionCookies;
  readonly links: SignInLinks;
  readonly clock: Clock;
}

interface AppParts extends DashboardDependencies {
  readonly keyCache: ApiKeyCache;
  readonly keyCheck: KeyCheck;
  readonly failures: RateLimit;
  readonly publicUrl: string | undefined;
}

/** Gives what takes a session in the place of a key. */
export const openDashboard = (app: FastifyInstance, parts: AppParts): Authenticate => {
  const { cookies, clock, publicUrl, keyCheck } = parts;
  const requests = createSessionRequests(cookies, clock, publicUrl);
  const sendPage = dashboardRoutes(app, parts.files);
  sessionRoutes(app, { ...parts, requests, sendPage });
  return acceptSessions(keyCheck.authenticate, { ...parts, requests });
};
