// Copies an environment as a new one, in parts, so that nobody waits for a large one. Nobody sees it before it is whole.

import type { Clock, Store, Transaction } from "../../platform/database/store.ts";
import { listEnvironments } from "../../platform/environments.ts";
import { conflict, ok, type Result } from "../../platform/errors.ts";
import { copyPart, renewCopy, showCopy } from "./copy-queries.ts";
import { rowsAtOnce } from "./removal.ts";
import type { CopyPosition } from "./rules.ts";

/** A copy that does not go on for so many milliseconds is removed: its process has ended. */
const leaseTime = 60_000;

export const copyLease = (now: Date): Date => new Date(now.getTime() + leaseTime);

/** A copy that has begun: of which revision, and into which environment. */
export interface BegunCopy {
  readonly sourceId: number;
  readonly targetId: number;
  readonly revision: number;
}

/** A copy that this request continues, for as long as it holds the lease. */
export interface HeldCopy extends BegunCopy {
  until: Date;
  /** Where it begins, or continues. */
  readonly position: CopyPosition;
}

/** Why there is no environment when another request, or the removal, has the copy. */
export const lost = conflict(
  "The copy took too long and was given up, or its source was deleted; try again.",
);

/** Until when the lease is held now; undefined when it is lost. */
const renewed = async (
  transaction: Transaction,
  clock: Clock,
  { targetId, until: held }: HeldCopy,
): Promise<Date | undefined> => {
  const now = clock();
  // Always later than the previous lease, so that holders can be distinguished.
  const until = new Date(Math.max(copyLease(now).getTime(), held.getTime() + 1));
  return (await renewCopy(transaction, targetId, held, until, now)) ? until : undefined;
};

/** Everything but what is changed meanwhile; false when the copy is lost. */
export const copyInParts = async (
  store: Store,
  clock: Clock,
  copy: HeldCopy,
  onProgress?: (rows: number) => void,
): Promise<boolean> => {
  const { sourceId, targetId } = copy;
  let position: CopyPosition | undefined = copy.position;
  let rows = 0;
  while (position) {
    const from: CopyPosition = position;
    const held = await store.transact(async (transaction) => {
      const until = await renewed(transaction, clock, copy);
      if (!until) return undefined;
      return { until, part: await copyPart(transaction, sourceId, targetId, from, rowsAtOnce) };
    });
    if (!held) return false;
    copy.until = held.until;
    const { part } = held;
    position = part.next;
    rows += part.rows;
    if (part.rows > 0) onProgress?.(rows);
  }
  return true;
};

/** Whether this request may finish the copy. Locks the source first, before the copy. */
export const holdToFinish = async (
  transaction: Transaction,
  clock: Clock,
  copy: HeldCopy,
): Promise<boolean> => {
  await transaction.lockEnvironment(copy.sourceId);
  return (await renewed(transaction, clock, copy)) !== undefined;
};

/** Makes up for what was changed meanwhile, once it is held: from now on it is an environment as any other. */
export const finishCopy = async (
  transaction: Transaction,
  { sourceId, targetId, revision }: HeldCopy,
  expiresAt: Date | null,
): Promise<Result<void>> => {
  // What is being deleted is no longer whole.
  const isThere = (await listEnvironments(transaction)).some(({ id }) => id === sourceId);
  if (!isThere) return lost;
  await showCopy(transaction, sourceId, targetId, revision, expiresAt);
  return ok(undefined);
};
