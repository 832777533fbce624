// Who a log line about a request names.
import type { FastifyRequest } from "fastify";
import { whoIs } from "../../auth/principal.ts";

/** Empty when nobody has shown a valid key or session. */
export const whoOf = ({ auth, refused }: FastifyRequest): object => {
  const principal = auth?.principal ?? refused;
  return principal ? { environment: principal.environment.name, ...whoIs(principal.actor) } : {};
};
