// Claims what is due, sends it, settles what came of it. Any number of workers share the work without a leader.
import { attemptOf, isGone, isSuccess, type Outcome } from "../domain/delivery.ts";
import { decideRetry, longestFailure, retention } from "../domain/retry.ts";
import type { Claim, Clock, DeliveryResult, Outbox, RandomBytes, Send } from "../ports.ts";
import { signedHeaders } from "./sign.ts";
import { createWebhookStates, type WebhookState } from "./webhook-states.ts";

const lease = 25_000;
/** A claim is not begun when its lease could end before its request does. */
const longestRequest = 16_000;
const tickEvery = 1_000;
const pruneEvery = 60_000;
/** Settlements that are worth a transaction, and the milliseconds after which fewer are. */
const recordTogether = 192;
/** Settled in one transaction at most, however many have gathered while the store was away. */
const recordAtMost = 500;
const gatherFor = 30;

export interface WorkerLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface WorkerDependencies {
  readonly outbox: Outbox;
  readonly sender: { readonly send: Send; abort(): void };
  readonly clock: Clock;
  /** Milliseconds that only ever grow, whatever is done to the clock. */
  readonly monotonic: () => number;
  readonly random: RandomBytes;
  readonly serviceName: string;
  readonly log: WorkerLog;
}

export interface Worker {
  /** Lets what is under way end for a while, gives the rest back, and stops. */
  close(): Promise<void>;
}

export const startWorker = (dependencies: WorkerDependencies): Worker => {
  const { outbox, sender, clock, monotonic, random, log } = dependencies;
  const states = createWebhookStates();
  const leases = new Map<string, number>();
  /** Said once of each. */
  const unreadable = new Set<string>();
  let done: DeliveryResult[] = [];
  let unwanted: Claim[] = [];
  let closing = false;
  let aborted = false;
  let isRunning = false;
  let again = false;
  let storeFails = false;

  const start = (state: WebhookState, claim: Claim): void => {
    const now = clock();
    void attempt(state, claim, now).then((outcome) => {
      states.ended(state, claim);
      if (aborted || !outcome) unwanted.push(claim);
      else recordOutcome(state, claim, outcome, now);
      dispatch();
      runWhenWorthwhile();
    });
  };

  /** The outcome; undefined when it could not even be begun, which must not stop the others. */
  const attempt = async (
    state: WebhookState,
    claim: Claim,
    now: Date,
  ): Promise<Outcome | undefined> => {
    try {
      const headers = signedHeaders(claim, state.callback, dependencies.serviceName, now);
      return await sender.send(state.callback.url, headers, claim.event.body);
    } catch (error) {
      log.error({ err: error, webhook: state.id }, "an attempt could not be begun");
      return undefined;
    }
  };

  const recordOutcome = (state: WebhookState, claim: Claim, outcome: Outcome, at: Date): void => {
    const now = clock().getTime();
    const decision = decideRetry(outcome, claim.attempts + 1, now, Math.random());
    done.push({ claim, attempt: attemptOf(outcome, at), decision });
    if (isSuccess(outcome)) {
      states.succeeded(state);
      return;
    }
    states.failed(state, monotonic(), now);
    const reason = isGone(outcome)
      ? "it answered 410 Gone"
      : now - (state.health.failingSince ?? now) >= longestFailure
        ? "it has not succeeded once in 5 days of failures"
        : undefined;
    if (reason === undefined) return;
    states.deactivate(state, reason);
    log.warn({ webhook: state.id, reason }, "webhook deactivated");
  };

  /** Begins as many requests as the limits allow. */
  const dispatch = (): void => {
    // What cannot be settled is not begun either: it would only be sent again.
    if (closing || storeFails) return;
    for (;;) {
      // Read for each: a process that is stopped in between wakes up with leases that are over.
      const now = monotonic();
      const next = states.next(now);
      if (!next) return;
      const [state, claim] = next;
      if ((leases.get(claim.leaseId) ?? 0) - now > longestRequest) start(state, claim);
      else {
        states.ended(state, claim);
        unwanted.push(claim);
      }
    }
  };

  /** One transaction: settles what has ended and claims what there is room for. */
  const runBatch = async (): Promise<void> => {
    const now = clock().getTime();
    const results = done.slice(0, recordAtMost);
    const released = [...unwanted, ...states.withdrawn()];
    const wanted = closing ? new Map<string, number>() : states.wanted(monotonic());
    const health = states.healthToWrite();
    if (results.length + released.length + wanted.size + health.length === 0) return;
    done = done.slice(results.length);
    unwanted = [];
    const leaseId = random(12).toHex();
    if (wanted.size > 0) leases.set(leaseId, monotonic() + lease);
    try {
      const claimed = await outbox.runBatch({
        results,
        released,
        health,
        claim: {
          wanted,
          // As it is now: what ends while the store works is settled by the next turn, and held until then.
          held: new Map(states.held),
          probing: states.probing(),
          leaseId,
          leaseUntil: now + lease,
          leaseLength: lease,
        },
        now,
      });
      states.add(claimed, wanted);
      again ||= done.length >= recordAtMost;
      for (const webhook of claimed.unreadable) {
        if (!unreadable.has(webhook)) {
          log.error({ webhook }, "nothing can be sent: its secret needs a key that is not here");
        }
        unreadable.add(webhook);
      }
    } catch (error) {
      // Nothing of it was written: all of it is tried again with the next turn.
      done = [...results, ...done];
      unwanted = [...released, ...unwanted];
      states.restore(wanted.keys(), health);
      throw error;
    } finally {
      const ended = monotonic();
      // In the order in which they end.
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
        await runBatch();
        storeFails = false;
        dispatch();
      } while (again);
    } catch (error) {
      complain(error);
    } finally {
      isRunning = false;
    }
  };

  /** Said once of each outage of the store; the next tick tries again. */
  const complain = (error: unknown): void => {
    if (!storeFails) {
      log.error({ err: error }, "the delivery worker cannot use the store; it tries every second");
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

  /** As long as there is enough to send, what ends is gathered and settled together. */
  const runWhenWorthwhile = (): void => {
    if (done.length >= recordTogether || states.queued() === 0) runSoon();
    else planned ??= setTimeout(() => runSoon(), gatherFor);
  };

  const stopListening = outbox.onSignal(({ queued, changed }) => {
    states.notice(queued);
    states.withdraw(changed);
    runSoon();
  });

  /** The first time at the start: a server that is restarted often prunes too. */
  let prunedAt = Number.NEGATIVE_INFINITY;
  const tick = async (): Promise<void> => {
    try {
      states.notice(await outbox.due(clock().getTime(), lease));
      runSoon(true);
      if (monotonic() - prunedAt > pruneEvery) {
        const now = clock().getTime();
        const more = await outbox.prune(now - retention, now);
        if (!more) prunedAt = monotonic();
      }
    } catch (error) {
      complain(error);
    }
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
      const patienceEnds = monotonic() + closePatience;
      while (states.running() > 0 && monotonic() < patienceEnds) await pause();
      aborted = true;
      sender.abort();
      while (states.running() > 0) await pause();
      while (isRunning) await pause();
      // A turn that was under way may have claimed more.
      states.withdrawAll();
      await run();
    },
  };
};

const closePatience = 10_000;
const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
