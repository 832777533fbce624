// The header by which a program that evaluates by itself names itself at its stream and its polls.
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";

export const clientIdPattern = "^[A-Za-z0-9_-]{8,64}$";
const isClientId = new RegExp(clientIdPattern);

export const clientHeader = {
  "x-halyard-client": Type.Optional(
    Type.String({
      description:
        "The id of a program that tells what it has applied, see `POST /api/v1/clients`. Anything else than 8 to 64 letters, digits, `-` and `_` is ignored.",
    }),
  ),
};

/** A header, not a parameter: servers from before it ignore it. */
export const clientIdOf = ({ headers }: FastifyRequest): string | undefined => {
  const header = headers["x-halyard-client"];
  return typeof header === "string" && isClientId.test(header) ? header : undefined;
};
