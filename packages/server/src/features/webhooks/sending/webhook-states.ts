// What the worker knows of each webhook: its circuit breaker, its claims and its running requests.
import { createRequestShares } from "../../../platform/http/request-shares.ts";
import type { Callback, Claim, Claimed, WebhookHealth } from "./batch.ts";
import {
  afterFailure,
  afterFailureAt,
  afterSuccess,
  type Breaker,
  type Failing,
  healthy,
  limitOf,
} from "./rules.ts";

/**
 * Claims per request that may run, so that the next one starts without asking the store first. What happens meanwhile waits
 * for them: a slow receiver gets fewer, about so many as it takes in this many milliseconds.
 */
const claimedAhead = { least: 2, most: 8, milliseconds: 200 };
/** Claims in one transaction at most. */
const claimAtMost = 500;

/** Requests of this process that run at once. */
const maxRequests = 256;

interface Health {
  failing: Failing | null;
  deactivate: string | null;
  recovered: boolean;
}

export interface WebhookState {
  readonly id: string;
  readonly environmentId: number;
  callback: Callback;
  breaker: Breaker;
  /** Whether it has succeeded since this process started; until then it gets one request at a time. */
  proven: boolean;
  /** Milliseconds of its last successful request. */
  took: number;
  running: number;
  queue: Claim[];
  health: Health;
}

export const createWebhookStates = () => {
  const states = new Map<string, WebhookState>();
  /** Webhooks that may have due deliveries. */
  const noticed = new Set<string>();
  /** By webhook, the ordering queues claimed here and not yet released. */
  const held = new Map<string, number[]>();
  const changedHealth = new Set<WebhookState>();
  let released: Claim[] = [];
  let queued = 0;
  const shares = createRequestShares<WebhookState>(maxRequests);

  const limitFor = (state: WebhookState, now: number): number => {
    const limit = limitOf(state.breaker, now);
    return shares.allowed(state, state.proven ? limit : Math.min(1, limit));
  };

  const isFailing = ({ breaker, proven, health }: WebhookState): boolean =>
    breaker.kind !== "closed" || breaker.failures > 0 || (!proven && health.failing !== null);

  const aheadFor = ({ took }: WebhookState): number => {
    const { least, most, milliseconds } = claimedAhead;
    return Math.min(most, Math.max(least, Math.floor(milliseconds / took)));
  };

  const roomFor = (state: WebhookState | undefined, now: number): number => {
    if (!state) return 1;
    const limit = limitFor(state, now);
    const ahead = state.proven && !isFailing(state) ? aheadFor(state) : 1;
    return limit * ahead - state.running - state.queue.length;
  };

  const releaseLease = ({ webhookId, queueId }: Claim): void => {
    const queueIds = (held.get(webhookId) ?? []).filter((id) => id !== queueId);
    if (queueIds.length > 0) held.set(webhookId, queueIds);
    else held.delete(webhookId);
  };

  const addState = (id: string, callback: Callback): WebhookState => {
    const state: WebhookState = {
      id,
      environmentId: callback.environmentId,
      callback,
      breaker: healthy,
      proven: false,
      took: Number.POSITIVE_INFINITY,
      running: 0,
      queue: [],
      health: { failing: null, deactivate: null, recovered: false },
    };
    states.set(id, state);
    shares.add(state);
    return state;
  };

  const emptyQueue = (state: WebhookState): void => {
    for (const claim of state.queue) releaseLease(claim);
    queued -= state.queue.length;
    released.push(...state.queue);
    state.queue = [];
  };

  return {
    notice(ids: Iterable<string>): void {
      for (const id of ids) noticed.add(id);
    },

    /** How many claims each noticed webhook has room for. */
    wanted(now: number): Map<string, number> {
      const wanted = new Map<string, number>();
      let total = 0;
      for (const id of shares.inTurn(noticed, (each) => states.get(each))) {
        const room = roomFor(states.get(id), now);
        if (room > 0) {
          wanted.set(id, room);
          noticed.delete(id);
          total += room;
        }
        if (total >= claimAtMost) break;
      }
      return wanted;
    },

    held,

    /** Webhooks that get one request to see whether they have recovered. */
    probing(): Set<string> {
      const open = [...states.values()].filter(({ breaker }) => breaker.kind === "open");
      return new Set(open.map(({ id }) => id));
    },

    add({ claims, callbacks }: Claimed, wanted: ReadonlyMap<string, number>): void {
      for (const [id, callback] of callbacks) {
        const state = states.get(id) ?? addState(id, callback);
        state.callback = callback;
        if (!changedHealth.has(state)) state.health.failing = callback.failing;
      }
      const got = new Map<string, number>();
      for (const claim of claims) {
        held.set(claim.webhookId, [...(held.get(claim.webhookId) ?? []), claim.queueId]);
        states.get(claim.webhookId)?.queue.push(claim);
        queued += 1;
        got.set(claim.webhookId, (got.get(claim.webhookId) ?? 0) + 1);
      }
      // Deactivated or deleted.
      for (const id of wanted.keys()) {
        const state = states.get(id);
        if (callbacks.has(id) || !state) continue;
        emptyQueue(state);
        if (state.running > 0) continue;
        states.delete(id);
        shares.delete(state);
      }
      // A webhook that got as many claims as it wanted may have more due.
      for (const [id, count] of wanted) if ((got.get(id) ?? 0) >= count) noticed.add(id);
    },

    /** The next claim to send, counted as running. */
    next(now: number): [WebhookState, Claim] | undefined {
      if (queued === 0) return undefined;
      const state = shares.next(
        (each) => each.queue.length > 0 && each.running < limitFor(each, now),
        isFailing,
      );
      const claim = state?.queue.shift();
      if (!state || !claim) return undefined;
      queued -= 1;
      return [state, claim];
    },

    ended(state: WebhookState, claim: Claim): void {
      shares.ended(state);
      releaseLease(claim);
      noticed.add(state.id);
    },

    succeeded(state: WebhookState, took: number): void {
      state.took = took;
      // A process that has just started knows of an outage only from the store.
      const failedBefore = !state.proven && state.health.failing !== null;
      const wasOpen = state.breaker.kind === "open" || failedBefore;
      state.breaker = afterSuccess(state.breaker);
      state.proven = true;
      if (state.health.failing === null && !wasOpen) return;
      state.health.failing = null;
      state.health.recovered ||= wasOpen;
      changedHealth.add(state);
    },

    failed(state: WebhookState, monotonic: number, now: number): void {
      state.breaker = afterFailure(state.breaker, monotonic);
      if (state.breaker.kind === "open") emptyQueue(state);
      const failing = afterFailureAt(state.health.failing, now);
      if (failing === state.health.failing) return;
      state.health.failing = failing;
      changedHealth.add(state);
    },

    deactivate(state: WebhookState, reason: string): void {
      state.health.deactivate = reason;
      changedHealth.add(state);
      emptyQueue(state);
    },

    healthToWrite(): WebhookHealth[] {
      const health = [...changedHealth].map((state) => ({
        webhookId: state.id,
        ...state.health,
      }));
      for (const state of changedHealth) {
        state.health = { ...state.health, deactivate: null, recovered: false };
      }
      changedHealth.clear();
      return health;
    },

    /** Undoes `wanted` and `healthToWrite` when the batch could not be written. */
    restore(ids: Iterable<string>, health: readonly WebhookHealth[]): void {
      for (const id of ids) noticed.add(id);
      for (const { webhookId, ...rest } of health) {
        const state = states.get(webhookId);
        if (!state) continue;
        // What has happened since is newer; only what is still to be done is kept.
        state.health = changedHealth.has(state)
          ? {
              failing: state.health.failing,
              deactivate: state.health.deactivate ?? rest.deactivate,
              recovered: state.health.recovered || rest.recovered,
            }
          : { ...rest };
        changedHealth.add(state);
      }
    },

    /** Webhooks that were changed or deleted: their claims are released unsent. */
    withdraw(ids: Iterable<string>): void {
      for (const id of ids) {
        const state = states.get(id);
        if (state) emptyQueue(state);
        noticed.add(id);
      }
    },

    withdrawAll(): void {
      for (const state of states.values()) emptyQueue(state);
    },

    withdrawn(): Claim[] {
      const claims = released;
      released = [];
      return claims;
    },

    running: shares.running,

    /** Claimed and not yet sent. */
    queued: (): number => queued,
  };
};
