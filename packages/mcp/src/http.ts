// Answers one request of MCP's streamable HTTP, without a session: all that a request needs comes with it.
import { createManagement, type ManagementOptions } from "@halyard/sdk/management";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createMcpServer, type McpOptions } from "./server.ts";

export type HttpOptions = Omit<McpOptions, "management"> & {
  /** The API, as the key of the request sees it. */
  readonly api: ManagementOptions;
};

export const answerMcp = (
  request: Request,
  body: unknown,
  { api, ...options }: HttpOptions,
): Promise<Response> => {
  const management = createManagement(api);
  const handler = createMcpHandler(() => createMcpServer({ ...options, management }), {
    // There is nothing to subscribe to.
    maxSubscriptions: 0,
  });
  return handler.fetch(request, { parsedBody: body });
};
