// The format that `halyard export` writes and `halyard import` reads. It is sorted and stable, to give small diffs in git.
import { byKey } from "@halyard/core/plan/by-key";
import type { Webhook } from "@halyard/sdk/management";
import { jsonText } from "../terminal/output.ts";
import { type FileLists, orderLists } from "./file-kinds.ts";

export type FileWebhook = Pick<Webhook, "url" | "events" | "active" | "cloudEvents">;

export interface FlagsFile extends FileLists {
  readonly webhooks?: readonly FileWebhook[];
}

export const fileFormats = ["json", "yaml"] as const;
export type FileFormat = (typeof fileFormats)[number];

export const formatVersion = 1;

export const writeFlagsFile = async (file: FlagsFile, format: FileFormat): Promise<string> => {
  const lists = Object.entries(orderLists(file)).map(([name, list]) => [
    name,
    list.toSorted(byKey),
  ]);
  const webhooks = file.webhooks
    ?.map(({ url, events, active, cloudEvents }) => ({
      url,
      events: [...events].sort(),
      active,
      ...(cloudEvents && { cloudEvents }),
    }))
    .sort((a, b) => (a.url < b.url ? -1 : 1));
  const content = {
    halyard: formatVersion,
    ...(Object.fromEntries(lists) as object),
    ...(webhooks && { webhooks }),
  };
  if (format === "json") return `${jsonText(content, 2)}\n`;
  const { stringify } = await import("yaml");
  // Don't fold long lines: a changed word would look like a changed paragraph.
  return stringify(content, { lineWidth: 0 });
};
