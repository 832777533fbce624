// Reads what `halyard doctor` reports of a store: keys, webhooks and their pending deliveries. Changes nothing.
import type { HistoryVerification } from "@halyard/core/history/verify";
import { type Kysely, sql } from "kysely";
import { verifyStored } from "../../../features/history/verify-stored.ts";
import type { Tables } from "../schema/tables.ts";
import { unreadableSecrets } from "../secrets/encrypted-rows.ts";
import type { SecretCipher } from "../secrets/secret-cipher.ts";

export interface InspectedKey {
  readonly environment: string;
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date | null;
}

export interface InspectedWebhook {
  readonly environment: string;
  readonly id: string;
  readonly url: string;
  readonly active: boolean;
  /** Why Halyard deactivated it; null when it is active or was deactivated by a person. */
  readonly deactivatedFor: string | null;
  /** Its first failure since its last success. */
  readonly failingSince: Date | null;
  readonly pending: number;
  readonly oldestPendingAt: Date | null;
}

export interface Inspected {
  readonly environments: readonly string[];
  readonly keys: readonly InspectedKey[];
  readonly webhooks: readonly InspectedWebhook[];
  /** Webhooks and people whose secret was encrypted with a key that is missing. */
  readonly unreadableSecrets: readonly string[];
  /** Of each environment. */
  readonly histories: readonly HistoryVerification[];
}

const time = (milliseconds: number | null): Date | null =>
  milliseconds === null ? null : new Date(milliseconds);

export const inspectRows = async (
  database: Kysely<Tables>,
  secrets: SecretCipher | undefined,
): Promise<Inspected> => {
  const environments = await database
    .selectFrom("environments")
    .select("name")
    .orderBy("name")
    .execute();
  const keys = await database
    .selectFrom("api_keys")
    .innerJoin("environments", "environments.id", "api_keys.environment_id")
    .select([
      "environments.name as environment",
      "api_keys.id",
      "api_keys.name",
      "api_keys.role",
      "api_keys.created_at",
      "api_keys.last_used_at",
      "api_keys.expires_at",
    ])
    .where("api_keys.revoked_at", "is", null)
    // Neither the access of people nor their personal keys, which end by themselves.
    .where("api_keys.user_id", "is", null)
    .orderBy("environments.name")
    .orderBy("api_keys.created_at")
    .execute();
  const webhooks = await inspectWebhooks(database);
  return {
    environments: environments.map(({ name }) => name),
    keys: keys.map(({ created_at, last_used_at, expires_at, ...key }) => ({
      ...key,
      createdAt: new Date(created_at),
      lastUsedAt: time(last_used_at),
      expiresAt: time(expires_at),
    })),
    webhooks,
    unreadableSecrets: await unreadableSecrets(database, secrets),
    histories: await verifyStored({ database }, secrets),
  };
};

const inspectWebhooks = async (database: Kysely<Tables>): Promise<InspectedWebhook[]> => {
  const webhooks = await database
    .selectFrom("webhooks")
    .innerJoin("environments", "environments.id", "webhooks.environment_id")
    .select([
      "environments.name as environment",
      "webhooks.environment_id",
      "webhooks.id",
      "webhooks.url",
      "webhooks.active",
      "webhooks.failing_since",
    ])
    .orderBy("environments.name")
    .orderBy("webhooks.created_at")
    .execute();
  const waiting = await database
    .selectFrom("deliveries")
    .select(({ fn }) => [
      "webhook_id",
      fn.countAll<number>().as("count"),
      fn.min("created_at").as("oldest"),
    ])
    .where("state", "=", sql.lit("pending"))
    .groupBy("webhook_id")
    .execute();
  const waitingFor = new Map(waiting.map((row) => [row.webhook_id, row]));
  const inspected: InspectedWebhook[] = [];
  for (const { environment_id, failing_since, active, ...webhook } of webhooks) {
    const { count = 0, oldest = null } = waitingFor.get(webhook.id) ?? {};
    inspected.push({
      ...webhook,
      active: active === 1,
      deactivatedFor: active === 1 ? null : await whyInactive(database, environment_id, webhook.id),
      failingSince: time(failing_since),
      pending: Number(count),
      oldestPendingAt: time(oldest),
    });
  }
  return inspected;
};

const whyInactive = async (
  database: Kysely<Tables>,
  environmentId: number,
  id: string,
): Promise<string | null> => {
  const last = await database
    .selectFrom("history")
    .select("after")
    .where("environment_id", "=", environmentId)
    .where("subject", "=", "webhook")
    .where("subject_id", "=", id)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  const { reason = null } = JSON.parse(last?.after ?? "{}") as { reason?: string };
  return reason;
};
