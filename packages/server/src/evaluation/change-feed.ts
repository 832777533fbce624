// Keeps what is in memory current: commits of this instance are applied at once, those of others are found by looking.

import { setTimeout as pause } from "node:timers/promises";
import type { Replica } from "../platform/database/replica.ts";
import type { Store } from "../platform/database/store.ts";

/** Callers that can continue with what is in memory wait no longer. */
const catchUpTimeout = 2_000;

/** Looking this often is enough to be correct; hints make it sooner. */
const pollInterval = 500;

export interface ChangeFeed {
  /** When it resolves, all that was committed before the call is in memory. Rejects when the store cannot be read. */
  catchUp(): Promise<void>;
  /** The same for callers that come often: it does not look when the store can tell that nothing was committed. */
  readonly current: () => Promise<void>;
  /** The same for callers that can continue without: it never rejects, and waits for a short time only. */
  catchUpSoon(): Promise<void>;
  close(): Promise<void>;
}

export interface FeedListener {
  /** The store could not be read. Once for each outage. */
  readonly onLost: (error: unknown) => void;
  readonly onFound: () => void;
}

/** Resolves once everything is in memory for the first time. */
export const startChangeFeed = async (
  store: Pick<Store, "positions" | "onCommit" | "onHint"> & Partial<Pick<Store, "committed">>,
  replicas: readonly Replica[],
  listener: FeedListener,
): Promise<ChangeFeed> => {
  /** Undefined when it cannot be read just now: then whoever waits for a look finds out why. */
  const committed = (): number | undefined => {
    try {
      return store.committed?.();
    } catch {
      return undefined;
    }
  };
  /** Memory holds at least what was committed at this number. */
  let seen: number | undefined;
  const look = async (): Promise<void> => {
    const begun = committed();
    const followers = replicas.map((replica) => replica.beginPoll());
    const positions = await store.positions();
    let failure: { readonly error: unknown } | undefined;
    for (const follow of followers) {
      // Keys are revoked also while flags cannot be read.
      await follow(positions).catch((error: unknown) => {
        failure ??= { error };
      });
    }
    if (failure) throw failure.error;
    seen = begun;
  };

  let isLost = false;
  const attempt = async (): Promise<void> => {
    try {
      await look();
    } catch (error) {
      if (!isLost) listener.onLost(error);
      isLost = true;
      throw error;
    }
    if (isLost) listener.onFound();
    isLost = false;
  };

  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  /**
   * A call while a look is under way waits for the next one, which sees what was committed in between. When the one under
   * way fails it fails too: a store that does not answer costs seconds, and it has waited for one look already.
   */
  const catchUp = (): Promise<void> => {
    if (!running) {
      running = attempt().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running
      .finally(() => {
        next = undefined;
      })
      .then(catchUp);
    return next;
  };
  const catchUpSoon = async (): Promise<void> => {
    const caught = new AbortController();
    const tooLong = pause(catchUpTimeout, undefined, { ref: false, signal: caught.signal });
    await Promise.race([catchUp(), tooLong]).catch(() => undefined);
    caught.abort();
    await tooLong.catch(() => undefined);
  };

  let currentSoon: Promise<void> | undefined;
  /** Calls that came in one turn of the event loop ask the store together, after the last of them. */
  const current = (): Promise<void> => {
    if (!store.committed) return catchUp();
    currentSoon ??= new Promise((resolve) => {
      setImmediate(() => {
        currentSoon = undefined;
        resolve(seen !== undefined && committed() === seen ? undefined : catchUp());
      });
    });
    return currentSoon;
  };

  const pollNow = () => {
    // `attempt` reports its failure, and the next look comes anyway.
    catchUp().catch(() => undefined);
  };

  await catchUp();
  const stopCommits = store.onCommit((commit) => {
    const complete = replicas.map((replica) => replica.apply(commit));
    return complete.includes(false) ? catchUpSoon() : undefined;
  });
  const stopHints = store.onHint(pollNow);
  const timer = setInterval(pollNow, pollInterval).unref();

  return {
    catchUp,
    current,
    catchUpSoon,
    async close() {
      clearInterval(timer);
      stopCommits();
      stopHints();
      await (next ?? running)?.catch(() => undefined);
    },
  };
};
