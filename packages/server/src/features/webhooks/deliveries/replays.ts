// Replays of ranges of events: started by a request, and continued a part at a time by whichever instance is there.

import type { Caller, EnvironmentRef } from "../../../platform/auth/principal.ts";
import type { Db } from "../../../platform/database/db.ts";
import type { Sources, Store, Transaction } from "../../../platform/database/store.ts";
import { conflict, fail, noEnvironment, ok, type Result } from "../../../platform/errors.ts";
import {
  type IdempotentRequest,
  type IdempotentResult,
  runIdempotent,
} from "../../../writes/idempotency.ts";
import { transactFor } from "../../../writes/transact-for.ts";
import { subscribedTypes, type Webhook } from "../../../writes/webhook.ts";
import { findWebhook } from "../queries.ts";
import { inactive, isWebhookId, missing } from "../webhooks.ts";
import { listEvents } from "./queries.ts";
import { queueDeliveries } from "./queue-queries.ts";
import {
  countPendingReplays,
  findReplay,
  findReplayOutcome,
  findSequencesBetween,
  listRunningReplays,
  saveReplay,
} from "./replay-queries.ts";
import {
  afterPart,
  type Replay,
  type ReplayOutcome,
  type RunningReplay,
  replayPart,
  windowEnd,
} from "./replay-rules.ts";
import type { EventRange } from "./rules.ts";

/** What one request may ask for: after a sequence number, and within times. */
export type ReplayRange = Pick<EventRange, "afterSequence" | "from" | "to">;

export interface Replays {
  start(
    caller: Caller,
    id: string,
    range: ReplayRange,
    once?: IdempotentRequest,
  ): Promise<IdempotentResult<Replay & ReplayOutcome>>;
  /** The last replay of a webhook, and what became of it. */
  get(environment: EnvironmentRef, id: string): Promise<Result<Replay & ReplayOutcome>>;
  /** What is queued is still sent. */
  stop(environment: EnvironmentRef, id: string): Promise<Result<void>>;
  /** Queues the next part of the replay whose turn it is; false when there is none to continue. */
  continueNext(): Promise<boolean>;
}

/** Replays that are asked whether their receiver has taken the last part, before this instance pauses. */
const askedAtOnce = 8;

const noReplay = (id: string): Result<never> =>
  fail({ code: "NOT_FOUND", message: `The webhook "${id}" has had no replay.` });

export const createReplays = (
  store: Store,
  { clock, newIds }: Pick<Sources, "clock" | "newIds">,
): Replays => {
  const isTaken = async (db: Db, id: string): Promise<boolean> =>
    (await countPendingReplays(db, id, replayPart)) < replayPart / 2;

  const queuePart = async (
    transaction: Transaction,
    environmentId: number,
    webhook: Webhook,
    replay: Replay,
  ): Promise<Replay> => {
    const { reached, from, to } = replay;
    const found = await listEvents(
      transaction,
      environmentId,
      {
        afterSequence: reached,
        throughSequence: windowEnd(replay),
        ...(from && { from }),
        ...(to && { to }),
      },
      subscribedTypes(webhook),
      replayPart,
    );
    const deliveries = found.map((event) => ({
      id: newIds.delivery(),
      webhookId: webhook.id,
      eventId: event.id,
      sequence: event.sequence,
      orderingKey: event.orderingKey,
    }));
    const now = clock();
    await queueDeliveries(transaction, deliveries, "replay", now);
    const sequences = found.map(({ sequence }) => sequence);
    const next = afterPart(replay, sequences, now);
    await saveReplay(transaction, next);
    return next;
  };

  const continueOne = ({ webhookId, environmentId }: RunningReplay): Promise<boolean> =>
    store.transact(async (transaction) => {
      const webhook = await findWebhook(transaction, environmentId, webhookId);
      if (!webhook?.active) return false;
      const replay = await findReplay(transaction, webhookId);
      // Another instance may have been faster.
      if (replay?.state !== "running" || !(await isTaken(transaction, webhookId))) return false;
      await queuePart(transaction, environmentId, webhook, replay);
      return true;
    });

  /** When each had its last turn, of those that are running: environments take turns, then their webhooks. */
  let turns = new Map<number | string, number>();
  let turn = 0;
  const inTurn = (running: readonly RunningReplay[]): readonly RunningReplay[] => {
    const keys = running.flatMap(({ environmentId, webhookId }) => [environmentId, webhookId]);
    turns = new Map(keys.map((key) => [key, turns.get(key) ?? 0]));
    const last = (key: number | string) => turns.get(key) ?? 0;
    return running.toSorted(
      (a, b) =>
        last(a.environmentId) - last(b.environmentId) || last(a.webhookId) - last(b.webhookId),
    );
  };

  return {
    start: (caller, id, range, once) =>
      transactFor(store, caller, (transaction) =>
        runIdempotent(transaction, once, clock, async () => {
          const { environment } = caller;
          const locked = await transaction.lockEnvironment(environment.id);
          if (!locked) return noEnvironment;
          const webhook = isWebhookId(id)
            ? await findWebhook(transaction, environment.id, id)
            : undefined;
          if (!webhook) return missing(id);
          if (!webhook.active) return inactive(webhook);
          const earlier = await findReplay(transaction, id);
          if (earlier?.state === "running") {
            return conflict(
              `A replay of the webhook "${id}" is running, at sequence ${earlier.reached} of ${earlier.lastSequence}; wait until it is complete, or stop it.`,
            );
          }
          const bounds = await findSequencesBetween(transaction, environment.id, range);
          const now = clock();
          const replay: Replay = {
            webhookId: id,
            reached: Math.max(range.afterSequence ?? 0, (bounds?.first ?? 1) - 1),
            lastSequence: Math.min(locked.state.sequence, bounds?.last ?? 0),
            from: range.from ?? null,
            to: range.to ?? null,
            replayed: 0,
            throughSequence: null,
            state: "running",
            startedAt: now,
            endedAt: null,
          };
          if (await isTaken(transaction, id)) {
            const begun = await queuePart(transaction, environment.id, webhook, replay);
            if (begun.replayed > 0) {
              transaction.signal.audit.push({
                ...{ actions: ["webhook.replayed"], environmentId: environment.id },
                ...{ subject: "webhook", id, deliveries: begun.replayed },
              });
            }
            return ok({ ...begun, pending: begun.replayed, failed: 0 });
          }
          await saveReplay(transaction, replay);
          return ok({ ...replay, pending: 0, failed: 0 });
        }),
      ),

    async get(environment, id) {
      const webhook = isWebhookId(id) ? await findWebhook(store, environment.id, id) : undefined;
      if (!webhook) return missing(id);
      const replay = await findReplay(store, id);
      if (!replay) return noReplay(id);
      return ok({ ...replay, ...(await findReplayOutcome(store, id, replay.startedAt)) });
    },

    stop: (environment, id) =>
      store.transact(async (transaction) => {
        await transaction.lockEnvironment(environment.id);
        const webhook = isWebhookId(id)
          ? await findWebhook(transaction, environment.id, id)
          : undefined;
        if (!webhook) return missing(id);
        const replay = await findReplay(transaction, id);
        if (!replay) return noReplay(id);
        if (replay.state === "running") {
          await saveReplay(transaction, { ...replay, state: "stopped", endedAt: clock() });
        }
        return ok(undefined);
      }),

    async continueNext() {
      const running = inTurn(await listRunningReplays(store));
      for (const replay of running.slice(0, askedAtOnce)) {
        turn += 1;
        turns.set(replay.webhookId, turn);
        if (!(await isTaken(store, replay.webhookId))) continue;
        turns.set(replay.environmentId, turn);
        if (await continueOne(replay)) break;
      }
      return running.length > 0;
    },
  };
};
