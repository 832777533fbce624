// Who a log line about a request names.
import type { FastifyRequest } from "fastify";

/** Empty when nobody has shown a valid key. */
export const whoOf = ({ auth, refused }: FastifyRequest): object => {
  const principal = auth?.principal ?? refused;
  return principal
    ? {
        environment: principal.environment.name,
        keyId: principal.keyId,
        keyName: principal.actor.name,
      }
    : {};
};
