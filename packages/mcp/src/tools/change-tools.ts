// Tools on the way to a change: preview it, plan it, apply the plan.
import { reasonPattern } from "@halyard/core/reason";
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answer, refusedByServer } from "../answer.ts";
import type { ToolDependencies } from "../dependencies.ts";
import { key, operations } from "../operations.ts";
import { applyPlan } from "../plan/apply.ts";
import { cannotBeOne, makePlan } from "../plan/plan.ts";
import { planRollback } from "../plan/rollback.ts";
import { maxIdLength } from "../plan/seal.ts";
import { given, past } from "./input.ts";
import { addTool } from "./tool.ts";

const reason = z
  .string()
  .regex(new RegExp(reasonPattern, "u"), "must be 1 to 500 characters, without control characters")
  .describe("Why, in a sentence: it is kept in the history and sent in events");

export const addPreviewTool = (
  server: McpServer,
  { management, environment }: ToolDependencies,
): void => {
  addTool(server, "preview_change", {
    title: "Preview a change",
    description:
      "Say how many of the contexts seen lately would get another value of which flag, as rounded counts and shares. Changes nothing.",
    input: z.strictObject({ operations }),
    run: async ({ operations }) => {
      const preview = await management.preview.operations(operations, {
        rounded: true,
        timeout: 60_000,
      });
      if (!preview.ok) return refusedByServer(preview.error);
      return answer("Nothing was changed. This is whom the change would hit.", {
        environment,
        preview: preview.value,
      });
    },
  });
};

export const addChangeTools = (server: McpServer, dependencies: ToolDependencies): void => {
  addTool(server, "plan_change", {
    title: "Plan a change",
    description:
      "Plan a change of flags, or of one segment. Returns what would be different, whom it would hit, and the id of the plan, which is good for 15 minutes. Changes nothing: show the plan to the person you work for before apply_plan.",
    input: z.strictObject({ operations, reason }),
    run: async ({ operations, reason }) =>
      cannotBeOne(operations) ?? makePlan(dependencies, operations, reason),
  });

  addTool(server, "plan_rollback", {
    title: "Plan a rollback",
    description:
      "Plan to bring flags back to what they were at a time or a revision: those named, or all that have changed since. Returns a plan as plan_change does, and changes nothing. Segments stay as they are.",
    input: z.strictObject({
      flags: z.array(key("A flag's key")).min(1).max(100).optional(),
      ...past,
      reason,
    }),
    run: ({ flags: keys, at, revision, reason }) =>
      planRollback(dependencies, { keys, reason, ...given({ at, revision }) }),
  });

  addTool(server, "apply_plan", {
    title: "Apply a plan",
    description:
      "Make the change of a plan, by its id. Refused when somebody has changed the same thing since. In a protected environment it becomes a change request, which another person has to approve. Call it only once the person you work for has agreed to this plan.",
    input: z.strictObject({
      plan: z.string().max(maxIdLength).describe("The id of the plan, exactly as it was returned"),
    }),
    writes: true,
    run: ({ plan }) => applyPlan(dependencies, plan),
  });
};
