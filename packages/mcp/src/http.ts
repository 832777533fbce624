// Handles one request of MCP's streamable HTTP transport. There are no sessions, so each request is self-contained.
import { createManagement, type ManagementOptions } from "@halyard/sdk/management";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createMcpServer, type McpOptions } from "./server.ts";

export type HttpOptions = Omit<McpOptions, "management"> & {
  /** The API with the permissions of the request's key. */
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
