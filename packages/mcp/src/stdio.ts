// Serves MCP on standard input and output.
import { randomBytes } from "node:crypto";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createPlanSeal } from "./plan/seal.ts";
import { createMcpServer, type McpOptions } from "./server.ts";

/** Runs until standard input ends. Plans are valid only in this process. */
export const serveOnStdio = (options: Omit<McpOptions, "seal" | "now">): void => {
  const seal = createPlanSeal([randomBytes(32)]);
  serveStdio(() => createMcpServer({ ...options, seal, now: Date.now }), {
    // There is nothing to subscribe to.
    maxSubscriptions: 0,
  });
};
