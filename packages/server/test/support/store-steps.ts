// Small steps on a store, decided by the domain as the services decide them.
import { createHash, randomBytes } from "node:crypto";
import type { PatchFlag } from "@halyard/core/flags/registry";
import { insertEnvironment } from "../../src/features/environments/queries.ts";
import { decideCreate, decideDelete, decidePatch } from "../../src/features/flags/rules.ts";
import { insertWebhook, listWebhooks } from "../../src/features/webhooks/queries.ts";
import type { NewKey } from "../../src/platform/auth/api-key.ts";
import type { Store, Transaction } from "../../src/platform/database/store.ts";
import type { Environment } from "../../src/platform/environments.ts";
import type { Result } from "../../src/platform/errors.ts";
import {
  buildEvents,
  type Decision,
  type EnvironmentState,
  orderedBy,
} from "../../src/writes/change.ts";
import { deliveriesOf, type Webhook } from "../../src/writes/webhook.ts";

export type Step = (transaction: Transaction, environmentId: number) => Promise<void>;

export const at = new Date("2026-11-14T12:00:00.000Z");
const newId = (prefix: string) => `${prefix}_${randomBytes(8).toString("hex")}`;

const decided = <T>(result: Result<T>): T => {
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
};

const commit = async (
  transaction: Transaction,
  environment: EnvironmentState,
  decision: Decision | undefined,
): Promise<void> => {
  if (!decision) throw new Error("The change changes nothing.");
  const actor = { keyId: "k", name: "test" };
  const change = buildEvents(environment, decision, { actor }, at, () => newId("evt"));
  const webhooks = await listWebhooks(transaction, environment.id);
  await transaction.commit(
    change,
    deliveriesOf(change.events, orderedBy(change.decision), webhooks, () => newId("dlv")),
  );
};

const locked = async (transaction: Transaction, environmentId: number) => {
  const found = await transaction.lockEnvironment(environmentId);
  if (!found) throw new Error(`There is no environment ${environmentId}.`);
  return found.state;
};

const current = async (transaction: Transaction, environmentId: number, key: string) => {
  const found = await transaction.flag(environmentId, key);
  if (!found) throw new Error(`There is no flag ${key}.`);
  return found;
};

export const createFlag =
  (key: string): Step =>
  async (transaction, environmentId) => {
    const environment = await locked(transaction, environmentId);
    const lastVersion = await transaction.lastVersion(environmentId, "flag", key);
    const request = { key, type: "rollout" } as const;
    const decision = decideCreate(environment, undefined, lastVersion, request);
    await commit(transaction, environment, decided(decision));
  };

export const patchFlag =
  (key: string, patch: PatchFlag): Step =>
  async (transaction, environmentId) => {
    const environment = await locked(transaction, environmentId);
    const flag = await current(transaction, environmentId, key);
    await commit(transaction, environment, decided(decidePatch(flag, patch)));
  };

export const deleteFlag =
  (key: string): Step =>
  async (transaction, environmentId) => {
    const environment = await locked(transaction, environmentId);
    const flag = await current(transaction, environmentId, key);
    await commit(transaction, environment, decideDelete(flag));
  };

export const changeFlag = (store: Store, environmentId: number, step: Step): Promise<void> =>
  store.transact((transaction) => step(transaction, environmentId));

export const addEnvironment = (store: Store): Promise<Environment> =>
  store.transact((transaction) =>
    insertEnvironment(transaction, newId("env").replace("_", "-"), at),
  );

/** Of every webhook made here. */
export const webhookSecret = "whsec_dGhlIHNlY3JldCBvZiB0aGUgd2ViaG9vaw==";

/** One that wants every event. */
export const addWebhook = async (store: Store, environmentId: number): Promise<Webhook> => {
  const webhook: Webhook = {
    id: newId("wh"),
    url: "https://example.com/hook",
    events: ["*"],
    active: true,
    createdAt: at,
  };
  await store.transact((transaction) =>
    insertWebhook(transaction, environmentId, webhook, webhookSecret),
  );
  return webhook;
};

export const newKey = (environmentId: number, id: string): NewKey => ({
  id,
  name: id,
  role: "admin",
  createdAt: at,
  lastUsedAt: null,
  expiresAt: null,
  origins: null,
  user: null,
  writesDirectly: false,
  maxFlips: null,
  createdBy: null,
  environmentId,
  hash: createHash("sha256").update(id).digest(),
  isGiven: false,
});
