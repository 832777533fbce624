// Adds tools to a server.
import type { McpServer } from "@modelcontextprotocol/server";
import type { z } from "zod";
import type { ToolResult } from "../tool-result.ts";

interface ToolDescription<Input extends z.ZodObject> {
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** Whether it changes anything. Planning does not. */
  readonly writes?: true;
  readonly run: (input: z.output<Input>) => Promise<ToolResult>;
}

export const addTool = <Input extends z.ZodObject>(
  server: McpServer,
  name: string,
  { title, description, input, writes, run }: ToolDescription<Input>,
): void => {
  server.registerTool(
    name,
    {
      title,
      description,
      inputSchema: input,
      annotations: {
        readOnlyHint: writes !== true,
        destructiveHint: writes === true,
        // A plan is applied once: the same id again returns the same result.
        idempotentHint: true,
        openWorldHint: false,
      },
    },
    // The generic parameter hides from the compiler that the input matches the schema.
    (async (given: z.output<Input>) => run(given)) as never,
  );
};
