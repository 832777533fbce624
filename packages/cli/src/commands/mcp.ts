// halyard mcp: tools for an assistant, over standard input and output.
import { version } from "@halyard/server/version";
import { Command } from "commander";
import { type ConnectionOptions, connect, serverCommand } from "../server-connection/connection.ts";
import { checkKey } from "../server-connection/place.ts";
import { withExamples } from "../terminal/examples.ts";

const readingRoles: readonly string[] = ["client", "server"];

export const mcpCommand = (): Command =>
  withExamples(
    serverCommand(new Command("mcp"), "a server")
      .description("serve the tools of MCP to an assistant, over standard input and output")
      .option("--read-only", "no tools that change something, whatever the key may do")
      .action(serve),
    "halyard mcp --read-only",
    "halyard mcp -p staging",
  );

const serve = async (
  options: ConnectionOptions & { readonly readOnly?: boolean },
): Promise<void> => {
  const connection = connect(options);
  // Before anything is served: an assistant shows what a program says when it ends.
  const { environment, role } = await checkKey(connection);
  const { serveOnStdio } = await import("@halyard/mcp/stdio");
  const mode = options.readOnly || readingRoles.includes(role) ? "read" : "write";
  serveOnStdio({ management: connection.management, environment, mode, version });
};
