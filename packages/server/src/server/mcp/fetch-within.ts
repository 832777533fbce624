// A fetch that asks this server itself, without a connection: the request passes all that any other passes.
import type { FastifyInstance, FastifyRequest, InjectOptions } from "fastify";

/** Logs and limits see the address and the id of the request that it is part of. */
export const fetchWithin =
  (app: FastifyInstance, { id, ip }: FastifyRequest): typeof fetch =>
  async (input, { method = "GET", headers, body, signal } = {}) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    const answer = await app.inject({
      method: method as NonNullable<InjectOptions["method"]>,
      url: pathname + search,
      headers: { ...(headers as Record<string, string>), "x-request-id": id },
      remoteAddress: ip,
      ...(typeof body === "string" && { payload: body }),
      ...(signal && { signal }),
    });
    const given = Object.entries(answer.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as [string, string]],
    );
    const { statusCode: status, payload } = answer;
    return new Response(payload === "" ? null : payload, { status, headers: given });
  };
