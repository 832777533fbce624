// The tools for a change: preview it, plan it, apply the plan.
import { reasonPattern } from "@halyard/core/reason";
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { ToolDependencies } from "../dependencies.ts";
import { key, operations } from "../operations.ts";
import { applyPlan } from "../plan/apply.ts";
import { makePlan, singlePlanError } from "../plan/plan.ts";
import { planRollback } from "../plan/rollback.ts";
import { maxIdLength } from "../plan/seal.ts";
import { serverError, toolResult } from "../tool-result.ts";
import { given, past } from "./input.ts";
import { addTool } from "./tool.ts";

const reason = z
  .string()
  .regex(new RegExp(reasonPattern, "u"), "must be 1 to 500 characters, without control characters")
  .describe("The reason in a sentence; included in history and events");

export const addPreviewTool = (
  server: McpServer,
  { management, environment }: ToolDependencies,
): void => {
  addTool(server, "preview_change", {
    title: "Preview a change",
    description:
      "Show how many of the recently sampled contexts would get a different value of which flag, as rounded counts and shares. Changes nothing.",
    input: z.strictObject({ operations }),
    run: async ({ operations }) => {
      const preview = await management.preview.operations(operations, {
        rounded: true,
        timeout: 60_000,
      });
      if (!preview.ok) return serverError(preview.error);
      return toolResult("Nothing was changed. The data shows the affected users.", {
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
      "Plan a change of flags, or of one segment. Returns the differences, the affected users, and the id of the plan, which is valid for 15 minutes. Changes nothing: show the plan to your user before apply_plan.",
    input: z.strictObject({ operations, reason }),
    run: async ({ operations, reason }) =>
      singlePlanError(operations) ?? makePlan(dependencies, operations, reason),
  });

  addTool(server, "plan_rollback", {
    title: "Plan a rollback",
    description:
      "Plan to restore flags to their state at a time or a revision: the specified flags, or all that have changed since. Returns a plan like plan_change, and changes nothing. Segments are not restored.",
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
      "Apply a plan by its id. Rejected if the same flag or segment has changed since. In a protected environment, it creates a change request, which another user must approve. Call it only after your user has agreed to this plan.",
    input: z.strictObject({
      plan: z.string().max(maxIdLength).describe("The id of the plan, exactly as returned"),
    }),
    writes: true,
    run: ({ plan }) => applyPlan(dependencies, plan),
  });
};
