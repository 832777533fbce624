// Tools that read flags: find them, show one, explain a value.
import { flagTypeNames } from "@halyard/core/flags/registry";
import { actorText } from "@halyard/core/history/actor-text";
import type { EvaluationContext, Flag, FlagPatch } from "@halyard/sdk/management";
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { ToolDependencies } from "../dependencies.ts";
import { key } from "../operations.ts";
import { count, moreText, serverError, toolResult } from "../tool-result.ts";
import { given, page, past } from "./input.ts";
import { addTool } from "./tool.ts";

const longestText = 200;
const shortened = (text: string | null): string | null =>
  text !== null && text.length > longestText ? `${text.slice(0, longestText)}…` : text;

/** The fields that distinguish flags in a list. */
const brief = (flag: Flag) => ({
  key: flag.key,
  type: flag.type,
  enabled: flag.enabled,
  ...(flag.type === "rollout" && { percentage: flag.percentage }),
  description: shortened(flag.description),
  ...(flag.rules && { rules: flag.rules.length }),
  ...(flag.requires && { requires: flag.requires.map(({ flag: required }) => required) }),
  ...(flag.tags && { tags: flag.tags }),
  ...(flag.owner !== undefined && { owner: flag.owner }),
});

export const addFlagTools = (
  server: McpServer,
  { management: { flags }, environment }: ToolDependencies,
): void => {
  addTool(server, "find_flags", {
    title: "Find flags",
    description:
      "List the feature flags of this environment, or those that match. Use it first to find a flag's key.",
    input: z.strictObject({
      text: z.string().max(200).optional().describe("Part of the key or the description"),
      type: z.enum(flagTypeNames).optional(),
      enabled: z.boolean().optional(),
      tag: z.string().max(200).optional(),
      owner: z.string().max(200).optional(),
      ...page(25),
    }),
    run: async ({ text, type, enabled, tag, owner, limit, cursor }) => {
      const query = given({ q: text, type, enabled, tag, owner, limit, cursor });
      const found = await flags.list(query);
      if (!found.ok) return serverError(found.error);
      const { value, next } = found;
      return toolResult(`${count(value.length, "flag")}.${moreText(next)}`, {
        environment,
        flags: value.map(brief),
        ...(next !== undefined && { next }),
      });
    },
  });

  addTool(server, "get_flag", {
    title: "Show a flag",
    description:
      "Show one flag in full: its state, percentage or variants, rules, prerequisites and version; when it was last evaluated and changed. With at or revision: its past state.",
    input: z.strictObject({ key: key("The flag's key"), ...past }),
    run: async ({ key, at, revision }) => {
      const found = await flags.get(key, given({ at, revision }));
      if (!found.ok) return serverError(found.error);
      const isPast = at !== undefined || revision !== undefined;
      const usage = isPast ? undefined : await flags.usage(key, { hours: 24 });
      const flag = { environment, flag: found.value, version: found.version };
      if (isPast) return toolResult("The flag at that time.", flag);
      if (!usage?.ok) return toolResult("The current flag.", flag);
      const { lastEvaluatedAt, lastAskedTogetherAt, lastChange } = usage.value;
      return toolResult("The current flag.", {
        ...flag,
        lastEvaluatedAt,
        lastAskedTogetherAt,
        lastChange: lastChange && { at: lastChange.at, by: actorText(lastChange.actor) },
      });
    },
  });

  addTool(server, "explain", {
    title: "Explain a value",
    description:
      "Show the value that a flag returns for a context, and every step of the decision: prerequisites, rules, conditions, bucket. With patch: with that change applied. With at or revision: at that time.",
    input: z.strictObject({
      key: key("The flag's key"),
      context: z
        .record(z.string(), z.unknown())
        .describe(
          'As the application sends it, such as {"targetingKey": "user-42", "plan": "pro"}',
        ),
      patch: z
        .record(z.string(), z.unknown())
        .optional()
        .describe('A change of the flag, such as {"percentage": 50}; the change is not applied'),
      ...past,
    }),
    run: async ({ key, context, patch, at, revision }) => {
      const request = {
        context: context as EvaluationContext,
        ...given({ patch: patch as FlagPatch | undefined, at, revision }),
      };
      const explained = await flags.explain(key, request);
      if (!explained.ok) return serverError(explained.error);
      const { flag: _flag, ...steps } = explained.value;
      return toolResult("The value for this context, and the steps of the decision.", {
        environment,
        key,
        ...steps,
      });
    },
  });
};
