// MCP over HTTP: tools for assistants. They call the API of this server with the key that came along, and so as any client.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { may } from "../../platform/auth/principal.ts";
import type { Clock } from "../../platform/database/store.ts";
import type { Failure } from "../../platform/errors.ts";
import { sendFailure } from "../../platform/http/errors/error-reply.ts";
import { fetchWithin } from "./fetch-within.ts";

export interface McpDependencies {
  /** Whether there are tools that change something, for keys that may. */
  readonly mode: "read" | "write";
  /** The ids of plans are sealed with the first, and opened with any. */
  readonly secrets: readonly [Uint8Array, ...Uint8Array[]];
  /** Of Halyard. */
  readonly version: string;
  readonly clock: Clock;
}

const foreignPage: Failure = {
  code: "FORBIDDEN",
  message:
    "MCP is not for web pages: a request with an Origin is refused, unless it is that of HALYARD_PUBLIC_URL.",
};

/** Only the address is used of it: nothing is sent over the network. */
const thisServer = "http://localhost";

const headersOf = ({ headers }: FastifyRequest): [string, string][] =>
  Object.entries(headers).map(([name, value]) => [name, String(value)]);

export const mcpRoutes = async (
  app: FastifyInstance,
  { mode, secrets, version, clock }: McpDependencies,
  publicUrl: string | undefined,
): Promise<void> => {
  // Loaded only when it is switched on, to keep the start fast and small.
  const { answerMcp } = await import("@halyard/mcp/http");
  const { createPlanSeal } = await import("@halyard/mcp/seal");
  const seal = createPlanSeal(secrets);
  const own = publicUrl === undefined ? undefined : new URL(publicUrl).origin;

  app.post(
    "/mcp",
    { config: { permission: "flags.read" }, schema: { hide: true } },
    async (request, reply) => {
      const { origin } = request.headers;
      if (origin !== undefined && origin !== own) return sendFailure(reply, foreignPage);
      const { principal, keyText } = request.auth;
      const asked = new Request(`${thisServer}/mcp`, {
        method: "POST",
        headers: headersOf(request),
      });
      return answerMcp(asked, request.body, {
        api: { url: thisServer, key: keyText, fetch: fetchWithin(app, request) },
        environment: principal.environment.name,
        mode: may(principal, "flags.write") ? mode : "read",
        seal,
        version,
        now: () => clock().getTime(),
      });
    },
  );
};
