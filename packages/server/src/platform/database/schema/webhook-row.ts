// A webhook as a row.
import type { Selectable } from "kysely";
import type { Webhook } from "../../../writes/webhook.ts";
import { prepared, type Value } from "./prepared.ts";
import type { Tables } from "./tables.ts";

/** Columns by name: a prepared statement stays correct when a newer version adds a column. */
export const webhookColumns = [
  "id",
  "environment_id",
  "url",
  "events",
  "active",
  "cloud_events",
  "created_at",
] as const;

export type WebhookRow = Pick<Selectable<Tables["webhooks"]>, (typeof webhookColumns)[number]>;

export const webhookOf = (row: WebhookRow): Webhook => ({
  id: row.id,
  url: row.url,
  events: JSON.parse(row.events) as string[],
  active: row.active === 1,
  ...(row.cloud_events === 1 && { cloudEvents: true }),
  createdAt: new Date(row.created_at),
});

/** Of an environment, in the order in which lists show them. */
export const readWebhooks = prepared((database, value: Value<{ environmentId: number }>) =>
  database
    .selectFrom("webhooks")
    .select(webhookColumns)
    .where("environment_id", "=", value("environmentId"))
    .orderBy("created_at")
    .orderBy("id"),
);
