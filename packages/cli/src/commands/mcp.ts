// halyard mcp: serves tools to an assistant over standard input and output.
import { version } from "@halyard/server/version";
import { Command } from "commander";
import { type ConnectionOptions, connect, serverCommand } from "../server-connection/connection.ts";
import { checkKey } from "../server-connection/place.ts";
import { withExamples } from "../terminal/examples.ts";

const readingRoles: readonly string[] = ["client", "server"];

export const mcpCommand = (): Command =>
  withExamples(
    serverCommand(new Command("mcp"), "a server")
      .description("serve Halyard's tools to an assistant with MCP, over standard input and output")
      .option("--read-only", "offer no tools that change anything, regardless of the key's role")
      .action(serve),
    "halyard mcp --read-only",
    "halyard mcp -p staging",
  );

const serve = async (
  options: ConnectionOptions & { readonly readOnly?: boolean },
): Promise<void> => {
  const connection = connect(options);
  // Check before serving, because assistants show the error output of a process that exits.
  const { environment, role } = await checkKey(connection);
  const { serveOnStdio } = await import("@halyard/mcp/stdio");
  const mode = options.readOnly || readingRoles.includes(role) ? "read" : "write";
  serveOnStdio({ management: connection.management, environment, mode, version });
};
