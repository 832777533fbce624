// All that people sign in with, and what they see of it: the routes below /session that are about accounts.
import type { FastifyInstance } from "fastify";
import { invitationRoutes } from "./invitation-routes.ts";
import { type PasswordRouteDependencies, passwordRoutes } from "./password-routes.ts";
import { createPersonRoutes, type PersonRouteParts } from "./person-routes.ts";
import { secondFactorRoutes } from "./second-factor-routes.ts";
import type { SecondFactors } from "./second-factors.ts";
import { sessionListRoutes } from "./session-list-routes.ts";

export interface SignInDependencies
  extends Omit<PersonRouteParts, "show" | "leave">,
    PasswordRouteDependencies {
  readonly secondFactors: SecondFactors;
}

export const signInRoutes = (
  app: FastifyInstance,
  dependencies: SignInDependencies & PersonRouteParts,
): void => {
  const routes = createPersonRoutes(dependencies);
  passwordRoutes(app, routes, dependencies);
  invitationRoutes(app, routes, dependencies);
  sessionListRoutes(app, routes);
  secondFactorRoutes(app, routes, dependencies.secondFactors);
};
