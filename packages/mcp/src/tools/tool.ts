// How a tool is added to a server.
import type { McpServer } from "@modelcontextprotocol/server";
import type { z } from "zod";
import type { Answer } from "../answer.ts";

interface ToolDescription<Input extends z.ZodObject> {
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** Whether it writes; a plan does not. */
  readonly writes?: true;
  readonly run: (input: z.output<Input>) => Promise<Answer>;
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
        // A plan is made once: the same id again finds it made.
        idempotentHint: true,
        openWorldHint: false,
      },
    },
    // The generic parameter hides from the compiler that the input is the schema's.
    (async (given: z.output<Input>) => run(given)) as never,
  );
};
