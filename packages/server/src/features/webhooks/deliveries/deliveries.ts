// Deliveries: show them and the health of webhooks, send events again, test a webhook, rotate its secret.
import { cloudEventHeaders, type DescribedEvent } from "@halyard/core/cloud-event";
import { fixedHeaders } from "@halyard/core/webhook-signature";
import type { Caller, EnvironmentRef } from "../../../platform/auth/principal.ts";
import type { Sources, Store, Transaction } from "../../../platform/database/store.ts";
import { notFound, ok, type Result } from "../../../platform/errors.ts";
import {
  type IdempotentRequest,
  type IdempotentResult,
  runIdempotent,
} from "../../../writes/idempotency.ts";
import { transactFor } from "../../../writes/transact-for.ts";
import type { NewDelivery, TestableType, Webhook } from "../../../writes/webhook.ts";
import { findWebhook, updateSecret } from "../queries.ts";
import { inactive, isWebhookId, missing, newSecret, recordWebhook } from "../webhooks.ts";
import { listBlocking, listHealth } from "./health-queries.ts";
import {
  type BlockingDelivery,
  type DeliveryHealth,
  type HealthStatus,
  nextAttemptOf,
  statusOf,
} from "./health-rules.ts";
import { findDelivery, findEventBody, insertTestEvent, listDeliveries } from "./queries.ts";
import { queueDeliveries } from "./queue-queries.ts";
import { retryFailed } from "./retry-queries.ts";
import type { Delivery, DeliveryQuery, FixedRequest } from "./rules.ts";
import { testEvent } from "./test-event.ts";

export interface Rotated {
  readonly secret: string;
  /** Until when the previous secret is also valid; null when it is not. */
  readonly previousUntil: Date | null;
}

export interface SentDelivery {
  readonly delivery: Delivery;
  readonly request: FixedRequest;
}

export interface ShownHealth extends DeliveryHealth {
  readonly status: HealthStatus;
  /** Never in the past. While the webhook fails, what is due is attempted one request at a time. */
  readonly nextAttemptAt: Date | null;
}

export interface DetailedHealth extends ShownHealth {
  readonly blocking: readonly (BlockingDelivery & Pick<ShownHealth, "nextAttemptAt">)[];
}

export interface Retried {
  /** Failed deliveries that are pending again. */
  readonly retried: number;
  /** False when there may be more of them. */
  readonly complete: boolean;
}

export interface Deliveries {
  /** Of every webhook, oldest first. */
  healthOfAll(environment: EnvironmentRef): Promise<readonly ShownHealth[]>;
  health(environment: EnvironmentRef, id: string): Promise<Result<DetailedHealth>>;
  /** What waits for a retry is due now, and what was given up gets one more attempt. */
  retry(caller: Caller, id: string, once?: IdempotentRequest): Promise<IdempotentResult<Retried>>;
  list(
    environment: EnvironmentRef,
    id: string,
    query: DeliveryQuery,
  ): Promise<Result<readonly Delivery[]>>;
  get(environment: EnvironmentRef, id: string, deliveryId: string): Promise<Result<SentDelivery>>;
  /** Sends an event to this webhook alone; of a flag's type when one is given. */
  test(
    caller: Caller,
    id: string,
    type: TestableType,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<Delivery>>;
  replay(
    caller: Caller,
    id: string,
    deliveryId: string,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<Delivery>>;
  rotateSecret(
    caller: Caller,
    id: string,
    immediately: boolean,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<Rotated>>;
}

export interface DeliveriesDependencies extends Sources {
  readonly store: Store;
  readonly serviceName: string;
  /** Where people reach this service. */
  readonly publicUrl: string | undefined;
}

/** Milliseconds for which the old secret stays valid after a rotation. */
const rotationOverlap = 24 * 60 * 60 * 1_000;
/** Failed deliveries that one request makes pending again. */
const retriedAtOnce = 500;

const shownHealth = (health: DeliveryHealth, now: Date): ShownHealth => ({
  ...health,
  status: statusOf(health, now),
  nextAttemptAt: nextAttemptOf(health.active, health.dueAt, now),
});

const missingDelivery = (id: string): Result<never> => notFound("The delivery", id);

export const createDeliveries = ({
  store,
  clock,
  random,
  newIds,
  serviceName,
  publicUrl,
}: DeliveriesDependencies): Deliveries => {
  /** In a transaction that locks the environment, on a webhook that exists. */
  const onWebhook = <T>(
    caller: Caller,
    id: string,
    once: IdempotentRequest | undefined,
    callback: (transaction: Transaction, webhook: Webhook) => Promise<Result<T>>,
  ): Promise<IdempotentResult<T>> =>
    transactFor(store, caller, (transaction) =>
      runIdempotent(transaction, once, clock, async () => {
        const { environment } = caller;
        await transaction.lockEnvironment(environment.id);
        const webhook = isWebhookId(id)
          ? await findWebhook(transaction, environment.id, id)
          : undefined;
        return webhook ? callback(transaction, webhook) : missing(id);
      }),
    );

  /** Queues one delivery, and returns it as the log shows it. */
  const queueOne = async (
    transaction: Transaction,
    { environment }: Caller,
    delivery: NewDelivery,
    kind: "replay" | "test",
    at: Date,
  ): Promise<Result<Delivery>> => {
    await queueDeliveries(transaction, [delivery], kind, at);
    const { id, webhookId } = delivery;
    transaction.signal.audit.push({
      actions: [kind === "replay" ? "webhook.replayed" : "webhook.tested"],
      ...{ environmentId: environment.id, subject: "webhook", id: webhookId, deliveries: 1 },
    });
    const found = await findDelivery(transaction, webhookId, id);
    return found ? ok(found) : missingDelivery(id);
  };

  return {
    async healthOfAll({ id: environmentId }) {
      const now = clock();
      return (await listHealth(store, environmentId, now)).map((health) =>
        shownHealth(health, now),
      );
    },

    async health({ id: environmentId }, id) {
      const now = clock();
      const [health] = isWebhookId(id) ? await listHealth(store, environmentId, now, id) : [];
      if (!health) return missing(id);
      const blocking = (await listBlocking(store, id)).map((each) => ({
        ...each,
        nextAttemptAt: nextAttemptOf(health.active, each.dueAt, now),
      }));
      return ok({ ...shownHealth(health, now), blocking });
    },

    retry: (caller, id, once) =>
      onWebhook(caller, id, once, async (transaction, webhook) => {
        if (!webhook.active) return inactive(webhook);
        const retried = await retryFailed(transaction, id, retriedAtOnce, clock());
        return ok({ retried, complete: retried < retriedAtOnce });
      }),

    async list({ id: environmentId }, id, query) {
      const webhook = isWebhookId(id) ? await findWebhook(store, environmentId, id) : undefined;
      return webhook ? ok(await listDeliveries(store, id, query)) : missing(id);
    },

    async get({ id: environmentId }, id, deliveryId) {
      const webhook = isWebhookId(id) ? await findWebhook(store, environmentId, id) : undefined;
      if (!webhook) return missing(id);
      const delivery = await findDelivery(store, id, deliveryId);
      const body = delivery && (await findEventBody(store, delivery.event.id));
      if (!body) return missingDelivery(deliveryId);
      const text = new TextDecoder().decode(body);
      const headers = {
        ...fixedHeaders(serviceName, deliveryId, delivery.event),
        ...(webhook.cloudEvents &&
          cloudEventHeaders(JSON.parse(text) as DescribedEvent, publicUrl)),
      };
      return ok({ delivery, request: { method: "POST", url: webhook.url, headers, body: text } });
    },

    test: (caller, id, type, once) =>
      onWebhook(caller, id, once, async (transaction, webhook) => {
        if (!webhook.active) return inactive(webhook);
        const at = clock();
        const event = testEvent(newIds.event(), type, webhook, caller, at);
        await insertTestEvent(transaction, caller.environment.id, event, at);
        const delivery = { id: newIds.delivery(), webhookId: id, eventId: event.id };
        const unnumbered = { ...delivery, sequence: null, orderingKey: null };
        return queueOne(transaction, caller, unnumbered, "test", at);
      }),

    replay: (caller, id, deliveryId, once) =>
      onWebhook(caller, id, once, async (transaction, webhook) => {
        const old = await findDelivery(transaction, id, deliveryId);
        if (!old) return missingDelivery(deliveryId);
        if (!webhook.active) return inactive(webhook);
        const { id: eventId, sequence, orderingKey } = old.event;
        const again = { id: newIds.delivery(), webhookId: id, eventId, sequence, orderingKey };
        return queueOne(transaction, caller, again, "replay", clock());
      }),

    rotateSecret: (caller, id, immediately, once) =>
      onWebhook(caller, id, once, async (transaction, webhook) => {
        const at = clock();
        const secret = newSecret(random);
        const previousUntil = immediately ? null : new Date(at.getTime() + rotationOverlap);
        await updateSecret(transaction, id, secret, previousUntil);
        await recordWebhook(transaction, caller, at, "webhook.secret_rotated", webhook, webhook);
        return ok({ secret, previousUntil });
      }),
  };
};
