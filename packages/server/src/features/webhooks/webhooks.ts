// Webhooks: register, show, change and remove subscriptions.

import type { Caller, EnvironmentRef } from "../../platform/auth/principal.ts";
import type { Db } from "../../platform/database/db.ts";
import type {
  LookUp,
  RandomBytes,
  Sources,
  Store,
  Transaction,
} from "../../platform/database/store.ts";
import { conflict, noEnvironment, notFound, ok, type Result } from "../../platform/errors.ts";
import {
  type IdempotentRequest,
  type IdempotentResult,
  runIdempotent,
} from "../../writes/idempotency.ts";
import { transactFor } from "../../writes/transact-for.ts";
import { checkEvents, maxWebhooks, type Webhook } from "../../writes/webhook.ts";
import { findLastEntry } from "../history/history.ts";
import { type CallbackPolicy, checkCallbackUrl, checkResolved } from "./callback-address.ts";
import {
  deleteOldestDeliveries,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  updateWebhook,
} from "./queries.ts";

export interface CreateWebhook {
  readonly url: string;
  readonly events: readonly string[];
  readonly cloudEvents?: boolean;
}

export interface PatchWebhook {
  readonly active?: boolean;
  readonly events?: readonly string[];
  readonly cloudEvents?: boolean;
}

export interface CreatedWebhook {
  readonly webhook: Webhook;
  readonly secret: string;
}

export interface Webhooks {
  list(environment: EnvironmentRef): Promise<readonly Webhook[]>;
  get(environment: EnvironmentRef, id: string): Promise<Result<Webhook>>;
  create(
    caller: Caller,
    request: CreateWebhook,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<CreatedWebhook>>;
  patch(caller: Caller, id: string, patch: PatchWebhook): Promise<Result<Webhook>>;
  remove(caller: Caller, id: string): Promise<Result<void>>;
}

export interface WebhooksDependencies extends Sources {
  readonly store: Store;
  /** Within a second. */
  readonly lookUp: LookUp;
  readonly callbacks: CallbackPolicy;
}

const deliveriesAtOnce = 500;
const deletion = "webhook.deleted";

export const inactive = ({ id }: Webhook): Result<never> =>
  conflict(`The webhook "${id}" is not active, so nothing is sent to it; activate it first.`);
export const missing = (id: string): Result<never> => notFound("The webhook", id);
export const isWebhookId = (id: string): boolean => /^wh_[0-9a-z]{1,64}$/.test(id);
export const newSecret = (random: RandomBytes): string => `whsec_${random(32).toBase64()}`;

export const countWebhooks = async (db: Db, environmentId: number): Promise<number> =>
  (await listWebhooks(db, environmentId)).length;

/** Records a change of a webhook in the history, without secrets. */
export const recordWebhook = (
  transaction: Transaction,
  { actor, environment }: Caller,
  at: Date,
  action: string,
  before: Webhook | null,
  after: Webhook | null,
): Promise<string> =>
  transaction.record(environment.id, {
    subject: "webhook",
    subjectId: (after ?? before)?.id ?? "",
    version: null,
    at,
    actor,
    actions: [action],
    before: before && shown(before),
    after: after && shown(after),
  });

export const createWebhooks = (dependencies: WebhooksDependencies): Webhooks => {
  const { store, clock, random, newIds, lookUp, callbacks } = dependencies;

  const mayCall = async (url: string): Promise<Result<void>> => {
    const target = checkCallbackUrl(callbacks, url);
    if (!target.ok) return target;
    const { host } = target.value;
    if (host.kind === "address" || host.allowed) return ok(undefined);
    // A name that does not resolve is accepted: receivers are often registered before they exist.
    const addresses = await lookUp(host.name).catch(() => []);
    return checkResolved(callbacks, target.value, addresses);
  };

  return {
    list: ({ id }) => listWebhooks(store, id),

    async get(environment, id) {
      const found = isWebhookId(id) ? await findWebhook(store, environment.id, id) : undefined;
      return found ? ok(found) : missing(id);
    },

    async create(caller, request, once) {
      const { environment } = caller;
      const events = checkEvents(request.events);
      // The name is resolved before the transaction: others must not wait for a slow resolver.
      const callable = events.ok ? await mayCall(request.url) : events;
      return transactFor(store, caller, (transaction) =>
        runIdempotent(transaction, once, clock, async () => {
          if (!events.ok) return events;
          if (!callable.ok) return callable;
          const locked = await transaction.lockEnvironment(environment.id);
          if (!locked) return noEnvironment;
          if (locked.webhooks.length >= maxWebhooks) {
            return conflict(
              `The environment "${environment.name}" has ${maxWebhooks} webhooks, the maximum; delete one first.`,
            );
          }
          const webhook: Webhook = {
            id: newIds.webhook(),
            url: request.url,
            events: events.value,
            active: true,
            ...(request.cloudEvents === true && { cloudEvents: true }),
            createdAt: clock(),
          };
          const secret = newSecret(random);
          await insertWebhook(transaction, environment.id, webhook, secret);
          await recordWebhook(transaction, caller, clock(), "webhook.created", null, webhook);
          return ok({ webhook, secret });
        }),
      );
    },

    async patch(caller, id, patch) {
      const { environment } = caller;
      const events = patch.events === undefined ? undefined : checkEvents(patch.events);
      if (events && !events.ok) return events;
      if (!isWebhookId(id)) return missing(id);
      return transactFor(store, caller, async (transaction) => {
        await transaction.lockEnvironment(environment.id);
        const before = await findWebhook(transaction, environment.id, id);
        if (!before) return missing(id);
        const { cloudEvents, ...rest } = before;
        const after: Webhook = {
          ...rest,
          active: patch.active ?? before.active,
          events: events?.value ?? before.events,
          ...((patch.cloudEvents ?? cloudEvents) === true && { cloudEvents: true }),
        };
        if (JSON.stringify(shown(after)) === JSON.stringify(shown(before))) return ok(before);
        const activated = after.active && !before.active ? clock() : null;
        await updateWebhook(transaction, environment.id, after, activated);
        await recordWebhook(transaction, caller, clock(), "webhook.updated", before, after);
        return ok(after);
      });
    },

    async remove(caller, id) {
      if (!isWebhookId(id)) return missing(id);
      const { environment } = caller;
      // A long delivery log is deleted in small batches, so that others need not wait. What is done first is what must not be
      // lost when it is interrupted: that someone has deleted the webhook, and that nothing more is sent to it.
      const removePart = (): Promise<Result<boolean>> =>
        transactFor(store, caller, async (transaction) => {
          await transaction.lockEnvironment(environment.id);
          const present = await findWebhook(transaction, environment.id, id);
          if (!present) return missing(id);
          const last = await findLastEntry(transaction, environment.id, "webhook", id);
          if (!last?.actions.includes(deletion)) {
            await recordWebhook(transaction, caller, clock(), deletion, present, null);
          }
          if (present.active) {
            await updateWebhook(transaction, environment.id, { ...present, active: false }, null);
          }
          const removed = await deleteOldestDeliveries(transaction, id, deliveriesAtOnce);
          if (removed === deliveriesAtOnce) return ok(false);
          await deleteWebhook(transaction, environment.id, id);
          return ok(true);
        });
      for (;;) {
        const part = await removePart();
        if (!part.ok) return part;
        if (part.value) return ok(undefined);
      }
    },
  };
};

const shown = ({ id, url, events, active, cloudEvents }: Webhook) => ({
  id,
  url,
  events,
  active,
  ...(cloudEvents && { cloudEvents }),
});
