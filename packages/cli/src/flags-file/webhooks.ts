// Creates webhooks from a file whose URL is not registered yet. Existing webhooks are not changed.
import type { ManagementError, NewWebhook, Webhook } from "@halyard/sdk/management";
import { answered, type Connection, failureOf } from "../server-connection/connection.ts";
import { CommandFailed } from "../terminal/output.ts";
import type { FileWebhook } from "./flags-file.ts";

export interface CreatedFromFile extends FileWebhook {
  readonly id: string;
  /** Shown only once. */
  readonly secret: string;
}

/** Fetches webhooks with complete URLs. For keys below the role admin, URLs end in an ellipsis. */
export const webhooksAt = async (connection: Connection): Promise<readonly Webhook[]> => {
  const webhooks = answered(connection, await connection.management.webhooks.list());
  if (webhooks.every(({ url }) => !url.endsWith("…"))) return webhooks;
  const message = "Webhook URLs require a key with the role admin.";
  throw failureOf(connection, { code: "FORBIDDEN", message });
};

export const missingWebhooks = async (
  connection: Connection,
  webhooksOfFile: readonly FileWebhook[],
): Promise<readonly FileWebhook[]> => {
  const there = await webhooksAt(connection);
  const addresses = new Set(there.map(({ url }) => url));
  return webhooksOfFile.filter(({ url }) => !addresses.has(url));
};

/** Creates one at a time until one fails, so that every new secret can be printed. */
export const createWebhooks = async (
  connection: Connection,
  webhooksOfFile: readonly FileWebhook[],
  onCreated: (created: CreatedFromFile) => void,
): Promise<CommandFailed | undefined> => {
  const { webhooks } = connection.management;
  for (const { active, ...webhook } of webhooksOfFile) {
    const { url } = webhook;
    const made = await webhooks.create(webhook as NewWebhook);
    if (!made.ok) return refused(connection, url, made.error);
    const { id, secret } = made.value;
    onCreated({ id, ...webhook, active, secret });
    const paused = active ? undefined : await webhooks.update(id, { active: false });
    if (paused?.ok === false) return refused(connection, url, paused.error);
  }
  return undefined;
};

const refused = (connection: Connection, url: string, error: ManagementError): CommandFailed => {
  const { message, exitCode, code } = failureOf(connection, error);
  return new CommandFailed(`The webhook ${url}: ${message}`, exitCode, { code });
};
