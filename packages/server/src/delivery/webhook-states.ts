// What the worker remembers of each webhook: its breaker, what is claimed for it and what is under way.
import { afterFailure, afterSuccess, type Breaker, healthy, limitOf } from "../domain/breaker.ts";
import type { WebhookHealth } from "../domain/delivery.ts";
import type { Callback, Claim, Claimed } from "../ports.ts";

const maxRunning = 64;
/** Of these, so many for webhooks that fail: however many are dead, the others have room. */
const maxTroubled = 32;
/** Claimed ahead for each request that may run, so that the next one begins without asking the store first. */
const claimedAhead = 5;
/** Claimed in one transaction at most. */
const claimAtMost = 500;

interface Health {
  failingSince: number | null;
  deactivate: string | null;
  recovered: boolean;
}

export interface Target {
  readonly id: string;
  callback: Callback;
  breaker: Breaker;
  /** Whether it has answered well since this process began; until then it gets one request at a time. */
  proven: boolean;
  running: number;
  queue: Claim[];
  health: Health;
}

export const createTargets = () => {
  const targets = new Map<string, Target>();
  /** Webhooks for which there may be something due. */
  const noticed = new Set<string>();
  /** By webhook, the lanes claimed here and not yet given back. */
  const held = new Map<string, number[]>();
  const changedHealth = new Set<Target>();
  let returned: Claim[] = [];
  let running = 0;
  let queued = 0;
  let turn = 0;

  const limitFor = ({ breaker, proven }: Target, now: number): number =>
    proven ? limitOf(breaker, now) : Math.min(1, limitOf(breaker, now));

  const isTroubled = ({ breaker, proven, health }: Target): boolean =>
    breaker.kind !== "closed" || breaker.failures > 0 || (!proven && health.failingSince !== null);

  const roomFor = (target: Target | undefined, now: number): number => {
    if (!target) return 1;
    const limit = limitFor(target, now);
    const ahead = target.proven && !isTroubled(target) ? claimedAhead : 1;
    return limit * ahead - target.running - target.queue.length;
  };

  const letGo = ({ webhookId, laneId }: Claim): void => {
    const lanes = (held.get(webhookId) ?? []).filter((id) => id !== laneId);
    if (lanes.length > 0) held.set(webhookId, lanes);
    else held.delete(webhookId);
  };

  const emptyQueue = (target: Target): void => {
    for (const claim of target.queue) letGo(claim);
    queued -= target.queue.length;
    returned.push(...target.queue);
    target.queue = [];
  };

  return {
    notice(ids: Iterable<string>): void {
      for (const id of ids) noticed.add(id);
    },

    /** How many claims each noticed webhook has room for. */
    wanted(now: number): Map<string, number> {
      const wanted = new Map<string, number>();
      let total = 0;
      for (const id of noticed) {
        const room = roomFor(targets.get(id), now);
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

    /** Webhooks that get one request to see whether they are back. */
    probing(): Set<string> {
      const open = [...targets.values()].filter(({ breaker }) => breaker.kind === "open");
      return new Set(open.map(({ id }) => id));
    },

    add({ claims, callbacks }: Claimed, wanted: ReadonlyMap<string, number>): void {
      for (const [id, callback] of callbacks) {
        const target = targets.get(id) ?? {
          id,
          callback,
          breaker: healthy,
          proven: false,
          running: 0,
          queue: [],
          health: { failingSince: null, deactivate: null, recovered: false },
        };
        target.callback = callback;
        if (!changedHealth.has(target)) target.health.failingSince = callback.failingSince;
        targets.set(id, target);
      }
      const got = new Map<string, number>();
      for (const claim of claims) {
        held.set(claim.webhookId, [...(held.get(claim.webhookId) ?? []), claim.laneId]);
        targets.get(claim.webhookId)?.queue.push(claim);
        queued += 1;
        got.set(claim.webhookId, (got.get(claim.webhookId) ?? 0) + 1);
      }
      // Switched off or removed: nothing is to be remembered of it.
      for (const id of wanted.keys()) {
        const target = targets.get(id);
        if (callbacks.has(id) || !target) continue;
        emptyQueue(target);
        if (target.running === 0) targets.delete(id);
      }
      // Where all that was asked for was found there may be more.
      for (const [id, count] of wanted) if ((got.get(id) ?? 0) >= count) noticed.add(id);
    },

    /** The next claim to be sent, counted as running; webhooks take turns. */
    next(now: number): [Target, Claim] | undefined {
      if (running >= maxRunning) return undefined;
      const all = [...targets.values()];
      const troubled = all.filter(isTroubled).reduce((sum, target) => sum + target.running, 0);
      for (let step = 0; step < all.length; step++) {
        const target = all[(turn + step) % all.length];
        if (!target || target.running >= limitFor(target, now)) continue;
        if (troubled >= maxTroubled && isTroubled(target)) continue;
        const claim = target.queue.shift();
        if (!claim) continue;
        turn = (turn + step + 1) % all.length;
        queued -= 1;
        target.running += 1;
        running += 1;
        return [target, claim];
      }
      return undefined;
    },

    ended(target: Target, claim: Claim): void {
      target.running -= 1;
      running -= 1;
      letGo(claim);
      noticed.add(target.id);
    },

    succeeded(target: Target): void {
      // A process that has just begun knows of an outage from the store only.
      const failedBefore = !target.proven && target.health.failingSince !== null;
      const wasOpen = target.breaker.kind === "open" || failedBefore;
      target.breaker = afterSuccess(target.breaker);
      target.proven = true;
      if (target.health.failingSince === null && !wasOpen) return;
      target.health.failingSince = null;
      target.health.recovered ||= wasOpen;
      changedHealth.add(target);
    },

    failed(target: Target, monotonic: number, now: number): void {
      target.breaker = afterFailure(target.breaker, monotonic);
      if (target.breaker.kind === "open") emptyQueue(target);
      if (target.health.failingSince !== null) return;
      target.health.failingSince = now;
      changedHealth.add(target);
    },

    deactivate(target: Target, reason: string): void {
      target.health.deactivate = reason;
      changedHealth.add(target);
      emptyQueue(target);
    },

    healthToWrite(): WebhookHealth[] {
      const health = [...changedHealth].map((target) => ({
        webhookId: target.id,
        ...target.health,
      }));
      for (const target of changedHealth) {
        target.health = { ...target.health, deactivate: null, recovered: false };
      }
      changedHealth.clear();
      return health;
    },

    /** What was taken out could not be written: it is to be taken out again. */
    restore(ids: Iterable<string>, health: readonly WebhookHealth[]): void {
      for (const id of ids) noticed.add(id);
      for (const { webhookId, ...rest } of health) {
        const target = targets.get(webhookId);
        if (!target) continue;
        // What has happened since is newer; only what is still to be done is carried over.
        target.health = changedHealth.has(target)
          ? {
              failingSince: target.health.failingSince,
              deactivate: target.health.deactivate ?? rest.deactivate,
              recovered: target.health.recovered || rest.recovered,
            }
          : { ...rest };
        changedHealth.add(target);
      }
    },

    /** Webhooks that were changed or removed: what is claimed for them is given back unsent. */
    withdraw(ids: Iterable<string>): void {
      for (const id of ids) {
        const target = targets.get(id);
        if (target) emptyQueue(target);
        noticed.add(id);
      }
    },

    withdrawAll(): void {
      for (const target of targets.values()) emptyQueue(target);
    },

    withdrawn(): Claim[] {
      const claims = returned;
      returned = [];
      return claims;
    },

    running: (): number => running,

    /** Claimed and not yet sent. */
    queued: (): number => queued,
  };
};
