// The delivery log as the API shows it, and what tests ask of it again and again.
import assert from "node:assert/strict";
import type { Api } from "./api.ts";
import { until } from "./until.ts";

export interface ShownAttempt {
  readonly at: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly milliseconds: number;
  readonly response: string | null;
}

export interface ShownDelivery {
  readonly id: string;
  readonly kind: "event" | "replay" | "test";
  readonly state: "pending" | "delivered" | "failed";
  readonly event: {
    readonly id: string;
    readonly type: string;
    readonly sequence: number | null;
    readonly flagKey: string | null;
  };
  readonly createdAt: string;
  readonly settledAt: string | null;
  readonly nextAttemptAt: string | null;
  readonly behind: string | null;
  readonly attempts: readonly ShownAttempt[];
}

export interface NewWebhook {
  readonly id: string;
  readonly secret: string;
}

export const register = async (
  admin: Api,
  url: string,
  events: readonly string[] = ["*"],
): Promise<NewWebhook> => {
  const made = await admin("POST", "/webhooks", { url, events });
  assert.equal(made.status, 201, made.text);
  return made.body as NewWebhook;
};

let flags = 0;

/** A new flag, and so one flag.created event. */
export const createFlag = async (admin: Api, key?: string): Promise<string> => {
  flags += 1;
  const name = key ?? `flag-${flags}`;
  const made = await admin("POST", "/flags", { key: name, type: "boolean" });
  assert.equal(made.status, 201, made.text);
  return name;
};

export const patchFlag = async (admin: Api, key: string, patch: object): Promise<void> => {
  const patched = await admin("PATCH", `/flags/${key}`, patch);
  assert.equal(patched.status, 200, patched.text);
};

/** Newest first. */
export const readLog = async (
  admin: Api,
  webhookId: string,
  query = "",
): Promise<ShownDelivery[]> => {
  const answer = await admin("GET", `/webhooks/${webhookId}/deliveries${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as ShownDelivery[];
};

/** The log, once there are so many deliveries in it and this holds of each. */
export const logWhen = (
  admin: Api,
  webhookId: string,
  count: number,
  holds: (delivery: ShownDelivery) => boolean,
): Promise<ShownDelivery[]> =>
  until(`${count} deliveries of ${webhookId} that are ${String(holds)}`, async () => {
    const log = await readLog(admin, webhookId, "?limit=1000");
    return log.length >= count && log.every(holds) && log;
  });

export const isDelivered = ({ state }: ShownDelivery): boolean => state === "delivered";
export const wasAttempted = ({ attempts }: ShownDelivery): boolean => attempts.length > 0;
