// Tools that report: history, stale flags, the health of webhooks.
import { actorText } from "@halyard/core/history/actor-text";
import type { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answer, count, moreText, refusedByServer } from "../answer.ts";
import type { ToolDependencies } from "../dependencies.ts";
import { entryOf } from "../entries.ts";
import { key } from "../operations.ts";
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
      "Who changed what, when and why: changes of flags or of segments, newest first. Each has a revision, which plan_rollback and get_flag take. The people in a segment's lists are only counted.",
    input: z.strictObject({
      kind: z.enum(["flag", "segment"]).default("flag"),
      key: key("Only of this flag or segment").optional(),
      text: part("Part of a key, name, description or reason"),
      by: part("Part of the name of a person or an API key"),
      tag: part("Part of a tag of the flag, now or at the change", 64),
      owner: part("Part of the owner of the flag, now or at the change", 128),
      since: moment("From this time on"),
      until: moment("Up to this time"),
      ...page(20),
    }),
    run: async ({ kind, key, text, by, tag, owner, since, until, limit, cursor }) => {
      const query = {
        subject: kind,
        limit,
        ...given({ id: key, q: text, who: by, tag, owner, since, until, cursor }),
      };
      const found = await management.history(query);
      if (!found.ok) return refusedByServer(found.error);
      const { value, next } = found;
      return answer(`${count(value.length, "change")}, newest first.${moreText(next)}`, {
        environment,
        entries: value.map(entryOf),
        ...(next !== undefined && { next }),
      });
    },
  });

  addTool(server, "stale_flags", {
    title: "Find stale flags",
    description:
      "List flags that were neither evaluated nor changed in 30 days: candidates for removal. Look for them in the code before you plan to delete one.",
    input: z.strictObject({ limit: page(50).limit }),
    run: async ({ limit }) => {
      const found = await management.usage();
      if (!found.ok) return refusedByServer(found.error);
      const stale = found.value.filter((flag) => flag.stale);
      return answer(`Stale: ${stale.length} of ${count(found.value.length, "flag")}.`, {
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
      "Say of every webhook whether its deliveries arrive: status, what is pending and failed, the last error.",
    input: z.strictObject({}),
    run: async () => {
      const [list, health] = await Promise.all([
        management.webhooks.list(),
        management.webhooks.health(),
      ]);
      if (!list.ok) return refusedByServer(list.error);
      if (!health.ok) return refusedByServer(health.error);
      const known = new Map(list.value.map((webhook) => [webhook.id, webhook]));
      const failing = health.value.filter(({ status }) =>
        ["failing", "unstable", "deactivated"].includes(status),
      );
      return answer(
        `${count(health.value.length, "webhook")}; ${failing.length} failing, unstable or deactivated.`,
        {
          environment,
          webhooks: health.value.map(({ webhookId, ...state }) => {
            const { url = "", events } = known.get(webhookId) ?? {};
            // The rest of an address can hold a secret.
            return { id: webhookId, receiver: URL.parse(url)?.origin ?? null, events, ...state };
          }),
        },
      );
    },
  });
};
