// The file that `halyard export` writes and `halyard import` reads: sorted and stable, so that it can live in git.
import type { Flag, Webhook } from "@halyard/sdk";

export type FileWebhook = Pick<Webhook, "url" | "events" | "active">;

export interface FlagsFile {
  readonly flags: readonly Flag[];
  readonly webhooks?: readonly FileWebhook[];
}

export const fileFormats = ["json", "yaml"] as const;
export type FileFormat = (typeof fileFormats)[number];

export const formatVersion = 1;

export const byKey = (a: { readonly key: string }, b: { readonly key: string }): number =>
  a.key < b.key ? -1 : Number(a.key > b.key);

/** Its fields in the order of the file, and no others. */
export const inOrder = (flag: Flag): Flag => {
  const { key, enabled, description } = flag;
  return flag.type === "rollout"
    ? { key, type: "rollout", enabled, percentage: flag.percentage, description }
    : { key, type: "boolean", enabled, description };
};

export const writeFlagsFile = async (file: FlagsFile, format: FileFormat): Promise<string> => {
  const webhooks = file.webhooks
    ?.map(({ url, events, active }) => ({ url, events: [...events].sort(), active }))
    .sort((a, b) => (a.url < b.url ? -1 : 1));
  const content = {
    halyard: formatVersion,
    flags: file.flags.map(inOrder).sort(byKey),
    ...(webhooks && { webhooks }),
  };
  if (format === "json") return `${JSON.stringify(content, null, 2)}\n`;
  const { stringify } = await import("yaml");
  // Long lines stay whole: folding would make a changed word look like a changed paragraph.
  return stringify(content, { lineWidth: 0 });
};
