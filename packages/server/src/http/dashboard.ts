// The dashboard as a whole: its page, its sessions, and that the API takes them.
import type { FastifyInstance } from "fastify";
import type { Keyring } from "../evaluation/keyring.ts";
import type { Snapshots } from "../evaluation/snapshots.ts";
import type { SignInLinks } from "../management/sign-in-links.ts";
import type { Clock } from "../ports.ts";
import type { Authenticate, KeyCheck } from "./authenticate.ts";
import type { DashboardFiles } from "./dashboard-files.ts";
import { dashboardRoutes } from "./dashboard-page.ts";
import type { RateLimit } from "./rate-limit.ts";
import { sessionRoutes } from "./routes/session.ts";
import { acceptSessions } from "./session-authenticate.ts";
import type { SessionCookies } from "./session-cookie.ts";
import { createSessionRequests } from "./session-request.ts";

export interface DashboardNeeds {
  /** Undefined when it is not built. */
  readonly files: DashboardFiles | undefined;
  readonly cookies: SessionCookies;
  readonly links: SignInLinks;
  readonly clock: Clock;
}

interface AppParts extends DashboardNeeds {
  readonly keyring: Keyring;
  readonly snapshots: Snapshots;
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
