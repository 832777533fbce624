// The delivery worker: claims due deliveries, sends them, records the outcomes. Several workers share the work without a leader.

import type { WorkerLog } from "../../../platform/background/log.ts";
import type { Clock, RandomBytes, Send, Store } from "../../../platform/database/store.ts";
import { attemptOf, isGone, isSuccess, type Outcome } from "../deliveries/rules.ts";
import type { Claim, DeliveryResult, Prune, RunBatch } from "./batch.ts";
import { listDue } from "./queries.ts";
import { decideRetry, failedFor, longestFailure, retention } from "./rules.ts";
import { headersOf, type SenderNames } from "./sign.ts";
import { createWebhookStates, type WebhookState } from "./webhook-states.ts";

const lease = 25_000;
/** A request is not started when its lease could expire before it ends. */
const longestRequest = 16_000;
const tickEvery = 1_000;
const pruneEvery = 60_000;
/** Outcomes that are worth a transaction, and the milliseconds after which fewer are. */
const recordTogether = 320;
/** Outcomes in one transaction at most, however many accumulated while the store was down. */
const recordAtMost = 500;
const gatherFor = 30;
/** Of these it is remembered that they were logged. */
const maxUnreadable = 1_000;

export interface WorkerDependencies extends SenderNames {
  readonly store: Pick<Store, "background" | "onCommit">;
  readonly runBatch: RunBatch;
  readonly prune: Prune;
  readonly sender: { readonly send: Send; abort(): void };
  readonly clock: Clock;
  /** Milliseconds of a clock that is never set back. */
  readonly monotonic: () => number;
  readonly random: RandomBytes;
  /** Milliseconds; 0 keeps history for as long as its environment exists. */
  readonly historyRetention: number;
  readonly log: WorkerLog;
}

export interface Worker {
  /** Waits for running requests for a while, releases the other claims, and stops. */
  close(): Promise<void>;
}

export const startWorker = (dependencies: WorkerDependencies): Worker => {
  const { store, runBatch, prune, sender, clock, monotonic, random, log } = dependencies;
  const states = createWebhookStates();
  const leases = new Map<string, number>();
  /** Webhooks already logged. */
  const unreadable = new Set<string>();
  let done: DeliveryResult[] = [];
  let unsent: Claim[] = [];
  let closing = false;
  let aborted = false;
  let isRunning = false;
  let again = false;
  let storeFails = false;

  const start = (state: WebhookState, claim: Claim): void => {
    const now = clock();
    void attempt(state, claim, now).then((outcome) => {
      states.ended(state, claim);
      if (aborted || !outcome) unsent.push(claim);
      else recordOutcome(state, claim, outcome, now);
      dispatch();
      runWhenWorthwhile();
    });
  };

  /** The outcome; undefined when the attempt could not be started, which must not stop the others. */
  const attempt = async (
    state: WebhookState,
    claim: Claim,
    now: Date,
  ): Promise<Outcome | undefined> => {
    try {
      const headers = headersOf(claim, state.callback, dependencies, now);
      return await sender.send(state.callback.url, headers, claim.event.body);
    } catch (error) {
      log.error({ err: error, webhook: state.id }, "a delivery attempt could not be started");
      return undefined;
    }
  };

  const recordOutcome = (state: WebhookState, claim: Claim, outcome: Outcome, at: Date): void => {
    const now = clock().getTime();
    const decision = decideRetry(outcome, claim.attempts + 1, now, Math.random());
    done.push({ claim, attempt: attemptOf(outcome, at), decision });
    if (isSuccess(outcome)) {
      states.succeeded(state, outcome.milliseconds);
      return;
    }
    states.failed(state, monotonic(), now);
    const { failing } = state.health;
    const isLost = failing !== null && failedFor(failing, now) >= longestFailure;
    const reason = isGone(outcome)
      ? "it answered 410 Gone"
      : isLost
        ? "it has not succeeded once in 5 days of failures"
        : undefined;
    if (reason === undefined) return;
    states.deactivate(state, reason);
    log.warn({ webhook: state.id, reason }, "webhook deactivated");
  };

  /** Starts as many requests as the limits allow. */
  const dispatch = (): void => {
    // While no outcome can be recorded nothing is sent: it would only be sent again.
    if (closing || storeFails) return;
    for (;;) {
      // Read for each: a process that was suspended in between resumes with expired leases.
      const now = monotonic();
      const next = states.next(now);
      if (!next) return;
      const [state, claim] = next;
      if ((leases.get(claim.leaseId) ?? 0) - now > longestRequest) start(state, claim);
      else {
        states.ended(state, claim);
        unsent.push(claim);
      }
    }
  };

  /** One transaction: records outcomes and claims as much as there is room for. */
  const runNext = async (): Promise<void> => {
    const now = clock().getTime();
    const results = done.slice(0, recordAtMost);
    const released = [...unsent, ...states.withdrawn()];
    // What has ended and is not recorded yet must not be claimed again, even when its lease has expired.
    const isBehind = done.length > results.length;
    const wanted = closing || isBehind ? new Map<string, number>() : states.wanted(monotonic());
    const health = states.healthToWrite();
    if (results.length + released.length + wanted.size + health.length === 0) return;
    done = done.slice(results.length);
    unsent = [];
    const leaseId = random(12).toHex();
    if (wanted.size > 0) leases.set(leaseId, monotonic() + lease);
    try {
      const claimed = await runBatch({
        results,
        released,
        health,
        claim: {
          wanted,
          // A copy: what ends while the transaction runs is recorded by the next batch, and held until then.
          held: new Map(states.held),
          probing: states.probing(),
          leaseId,
          leaseUntil: now + lease,
          leaseLength: lease,
        },
        now,
      });
      states.add(claimed, wanted);
      again ||= isBehind;
      for (const webhook of claimed.unreadable) {
        if (!unreadable.has(webhook)) {
          log.error(
            { webhook },
            "the webhook's secret cannot be decrypted: its key is missing, so nothing is sent to it",
          );
        }
        if (unreadable.size >= maxUnreadable) unreadable.clear();
        unreadable.add(webhook);
      }
    } catch (error) {
      // Nothing was written: the next batch tries all of it again.
      done = [...results, ...done];
      unsent = [...released, ...unsent];
      states.restore(wanted.keys(), health);
      throw error;
    } finally {
      const ended = monotonic();
      // In the order in which they expire.
      for (const [id, until] of leases) {
        if (until > ended) break;
        leases.delete(id);
      }
    }
  };

  const run = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    try {
      do {
        again = false;
        await runNext();
        storeFails = false;
        dispatch();
      } while (again);
    } catch (error) {
      reportOutage(error);
    } finally {
      isRunning = false;
    }
  };

  /** Logged once per outage of the store; the next tick tries again. */
  const reportOutage = (error: unknown): void => {
    if (!storeFails) {
      log.error(
        { err: error },
        "the delivery worker cannot use the store; it retries every second",
      );
    }
    storeFails = true;
  };

  let planned: NodeJS.Timeout | undefined;
  const runSoon = (isTick = false): void => {
    if (storeFails && !isTick) return;
    clearTimeout(planned);
    planned = undefined;
    if (isRunning) again = true;
    else setImmediate(() => void run());
  };

  /** While there is enough to send, outcomes are collected and recorded together. */
  const runWhenWorthwhile = (): void => {
    if (done.length >= recordTogether || states.queued() === 0) runSoon();
    else planned ??= setTimeout(() => runSoon(), gatherFor);
  };

  const stopListening = store.onCommit(({ queued, changed }) => {
    if (queued.size + changed.size === 0) return;
    states.notice(queued);
    states.withdraw(changed);
    runSoon();
  });

  /** The first tick prunes, so that a server that restarts often prunes too. */
  let prunedAt = Number.NEGATIVE_INFINITY;
  const pruneOld = async (): Promise<void> => {
    const now = clock().getTime();
    try {
      const more = await prune({
        now,
        eventsBefore: now - retention,
        historyBefore:
          dependencies.historyRetention === 0 ? undefined : now - dependencies.historyRetention,
      });
      if (!more) prunedAt = monotonic();
    } catch (error) {
      // A lock that others hold, for example: deliveries go on.
      log.error({ err: error }, "old rows could not be deleted; it is tried again in a minute");
      prunedAt = monotonic();
    }
  };

  const tick = async (): Promise<void> => {
    try {
      states.notice(await listDue(store.background, clock().getTime(), lease));
    } catch (error) {
      reportOutage(error);
      return;
    }
    runSoon(true);
    if (monotonic() - prunedAt > pruneEvery) await pruneOld();
  };
  let ticking: Promise<void> | undefined;
  const startTick = (): void => {
    ticking ??= tick().finally(() => {
      ticking = undefined;
    });
  };
  startTick();
  const timer = setInterval(startTick, tickEvery);

  return {
    async close() {
      closing = true;
      stopListening();
      clearInterval(timer);
      clearTimeout(planned);
      await ticking;
      states.withdrawAll();
      const deadline = monotonic() + closeTimeout;
      while (states.running() > 0 && monotonic() < deadline) await pause();
      aborted = true;
      sender.abort();
      while (states.running() > 0) await pause();
      while (isRunning) await pause();
      // A batch that was running may have claimed more.
      states.withdrawAll();
      await run();
    },
  };
};

/** Milliseconds that close() waits for running requests. */
const closeTimeout = 10_000;
const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
