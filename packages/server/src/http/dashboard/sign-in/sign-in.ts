// All that people sign in with, and what they see of it: the routes below /session that are about accounts.
import type { FastifyInstance } from "fastify";
import type { SecondFactors } from "../../../access/second-factor.ts";
import { invitationRoutes } from "./invitation.ts";
import { type PasswordRouteDependencies, passwordRoutes } from "./password.ts";
import { createPersonRoutes, type PersonRouteParts } from "./person-routes.ts";
import { secondFactorRoutes } from "./second-factor.ts";
import { sessionListRoutes } from "./session-list.ts";

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
