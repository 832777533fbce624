// Tools that report: history, stale flags, the health of webhooks.
import { actorText } from "@halyard/core/history/actor-text";
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { ToolDependencies } from "../dependencies.ts";
import { entryOf } from "../entries.ts";
import { key } from "../operations.ts";
import { count, moreText, serverError, toolResult } from "../tool-result.ts";
import { given, page } from "./input.ts";
import { addTool } from "./tool.ts";

const moment = (what: string) => z.string().max(40).optional().describe(`${what}, ISO 8601`);

const part = (what: string, max = 200) =>
  z.string().min(1).max(max).optional().describe(`${what}; case is ignored`);

export const addReportTools = (
  server: McpServer,
  { management, environment }: ToolDependencies,
): void => {
  addTool(server, "history", {
    title: "Show history",
    description:
      "Show who changed what, when and why: changes of flags or segments, newest first. Each has a revision, which plan_rollback and get_flag accept. The members of a segment's lists are only counted.",
    input: z.strictObject({
      kind: z.enum(["flag", "segment"]).default("flag"),
      key: key("Only changes of this flag or segment").optional(),
      text: part("Part of a key, name, description or reason"),
      by: part("Part of the name of a user or an API key"),
      tag: part("Part of a tag of the flag, now or at the change", 64),
      owner: part("Part of the owner of the flag, now or at the change", 128),
      since: moment("Only changes since this time"),
      until: moment("Only changes up to this time"),
      ...page(20),
    }),
    run: async ({ kind, key, text, by, tag, owner, since, until, limit, cursor }) => {
      const query = {
        subject: kind,
        limit,
        ...given({ id: key, q: text, who: by, tag, owner, since, until, cursor }),
      };
      const found = await management.history(query);
      if (!found.ok) return serverError(found.error);
      const { value, next } = found;
      return toolResult(`${count(value.length, "change")}, newest first.${moreText(next)}`, {
        environment,
        entries: value.map(entryOf),
        ...(next !== undefined && { next }),
      });
    },
  });

  addTool(server, "stale_flags", {
    title: "Find stale flags",
    description:
      "List flags that were neither evaluated nor changed in 30 days: candidates for removal. Search the code for a flag before you plan to delete it.",
    input: z.strictObject({ limit: page(50).limit }),
    run: async ({ limit }) => {
      const found = await management.usage();
      if (!found.ok) return serverError(found.error);
      const stale = found.value.filter((flag) => flag.stale);
      return toolResult(`Stale: ${stale.length} of ${count(found.value.length, "flag")}.`, {
        environment,
        stale: stale.slice(0, limit).map(({ key, lastEvaluatedAt, lastChange }) => ({
          key,
          lastEvaluatedAt,
          lastChange: lastChange && { at: lastChange.at, by: actorText(lastChange.actor) },
        })),
        leftOut: Math.max(0, stale.length - limit),
      });
    },
  });

  addTool(server, "webhook_health", {
    title: "Show the health of webhooks",
    description:
      "Show for every webhook whether its deliveries succeed: status, pending and failed deliveries, the last error.",
    input: z.strictObject({}),
    run: async () => {
      const [list, health] = await Promise.all([
        management.webhooks.list(),
        management.webhooks.health(),
      ]);
      if (!list.ok) return serverError(list.error);
      if (!health.ok) return serverError(health.error);
      const known = new Map(list.value.map((webhook) => [webhook.id, webhook]));
      const failing = health.value.filter(({ status }) =>
        ["failing", "unstable", "deactivated"].includes(status),
      );
      return toolResult(
        `${count(health.value.length, "webhook")}; ${failing.length} failing, unstable or deactivated.`,
        {
          environment,
          webhooks: health.value.map(({ webhookId, ...state }) => {
            const { url = "", events } = known.get(webhookId) ?? {};
            // The rest of a URL can contain a secret.
            return { id: webhookId, receiver: URL.parse(url)?.origin ?? null, events, ...state };
          }),
        },
      );
    },
  });
};
