// Keeps the snapshots current: what this instance commits is applied at once, what others commit is found by looking.
import { setTimeout as pause } from "node:timers/promises";
import { flagChangeOf } from "../domain/change.ts";
import type { Position, Store } from "../ports.ts";
import { maxRecent } from "./snapshot.ts";
import type { ChangeableSnapshots } from "./snapshots.ts";

/** Whoever can go on with what is in memory waits no longer. */
const patience = 2_000;

/** Looking so often is enough to be right; hints make it sooner. */
const pollPause = 500;

type Followed = Pick<
  Store,
  "positions" | "changesAfter" | "flags" | "keyHolders" | "onCommit" | "onHint"
>;

export interface ChangeFeed {
  /** When it comes back, all that was committed before the call is in memory. Throws when the store cannot be asked. */
  catchUp(): Promise<void>;
  /** The same for those who can go on without: it never throws, and waits for a short while only. */
  catchUpSoon(): Promise<void>;
  close(): Promise<void>;
}

export interface FeedWatch {
  /** The store could not be asked. Once for each outage. */
  readonly lost: (error: unknown) => void;
  readonly found: () => void;
}

/** Comes back once everything is in memory for the first time. */
export const startChangeFeed = async (
  store: Followed,
  snapshots: ChangeableSnapshots,
  watch: FeedWatch,
): Promise<ChangeFeed> => {
  const look = async (): Promise<void> => {
    const before = new Map(
      snapshots.environmentIds().map((id) => [id, snapshots.get(id)?.revision ?? 0]),
    );
    const positions = await store.positions();
    const present = new Set(positions.map(({ environmentId }) => environmentId));
    for (const id of before.keys()) if (!present.has(id)) snapshots.forget(id);
    for (const position of positions) await follow(position, before.get(position.environmentId));
  };

  const follow = async (position: Position, before: number | undefined): Promise<void> => {
    const { environmentId, revision, keysRevision } = position;
    const wentBack = before !== undefined && revision < before;
    const known = snapshots.get(environmentId)?.revision;
    const isNear = known !== undefined && !wentBack && revision - known <= maxRecent;
    if (!isNear || revision > known) {
      const isThere =
        isNear &&
        snapshots.apply(environmentId, await store.changesAfter(environmentId, known, maxRecent)) &&
        (snapshots.get(environmentId)?.revision ?? 0) >= revision;
      if (!isThere) snapshots.replace(position, await store.flags(environmentId), wentBack);
    }
    if (snapshots.keysRevision(environmentId) !== keysRevision) {
      snapshots.setKeys(environmentId, keysRevision, await store.keyHolders(environmentId));
    }
  };

  let isLost = false;
  const attempt = async (): Promise<void> => {
    try {
      await look();
    } catch (error) {
      if (!isLost) watch.lost(error);
      isLost = true;
      throw error;
    }
    if (isLost) watch.found();
    isLost = false;
  };

  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  /**
   * Whoever calls while it runs waits for the one after it, which sees what was committed in between. When the one that
   * runs fails they fail with it: asking a store that is silent costs seconds, and they have waited for one already.
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
    const tooLong = pause(patience, undefined, { ref: false, signal: caught.signal });
    await Promise.race([catchUp(), tooLong]).catch(() => undefined);
    caught.abort();
    await tooLong.catch(() => undefined);
  };

  const hasten = () => {
    // Its failure is told by `attempt`, and the next look comes anyway.
    catchUp().catch(() => undefined);
  };

  await catchUp();
  const stopCommits = store.onCommit(({ changes, revokedKeys }) => {
    for (const keyId of revokedKeys) snapshots.revoke(keyId);
    const complete = changes.map((change) =>
      snapshots.apply(change.environmentId, [flagChangeOf(change)]),
    );
    // Others have committed in between: this change is seen once theirs are.
    return complete.includes(false) ? catchUpSoon() : undefined;
  });
  const stopHints = store.onHint(hasten);
  const timer = setInterval(hasten, pollPause).unref();

  return {
    catchUp,
    catchUpSoon,
    async close() {
      clearInterval(timer);
      stopCommits();
      stopHints();
      await (next ?? running)?.catch(() => undefined);
    },
  };
};
