// Copies an environment as a new one, in parts, so that nobody waits for a large one. Nobody sees it before it is whole.
import type { CopyPosition } from "../../domain/environment.ts";
import { conflict, ok, type Result } from "../../errors.ts";
import type { Clock, Store, Transaction } from "../../ports.ts";
import { rowsAtOnce } from "./removal.ts";

/** A copy that does not go on for so many milliseconds is removed: its process has ended. */
const leaseTime = 60_000;

export const copyLease = (now: Date): Date => new Date(now.getTime() + leaseTime);

/** A copy that has begun: of which revision, and into which environment. */
export interface BegunCopy {
  readonly sourceId: number;
  readonly targetId: number;
  readonly revision: number;
}

const lost = conflict(
  "The copy took too long and was given up, or its source was deleted; try again.",
);

/** Everything but what is changed meanwhile. */
export const copyInParts = async (
  store: Store,
  clock: Clock,
  { sourceId, targetId }: BegunCopy,
  onProgress?: (rows: number) => void,
): Promise<Result<void>> => {
  let position: CopyPosition | undefined = { table: 0, after: null };
  let rows = 0;
  while (position) {
    const from: CopyPosition = position;
    const part = await store.transact(async (transaction) => {
      const now = clock();
      return (await transaction.renewCopy(targetId, copyLease(now), now))
        ? transaction.copyPart(sourceId, targetId, from, rowsAtOnce)
        : undefined;
    });
    if (!part) return lost;
    position = part.next;
    rows += part.rows;
    if (part.rows > 0) onProgress?.(rows);
  }
  return ok(undefined);
};

/** Makes up for what was changed meanwhile: from now on it is an environment as any other. */
export const finishCopy = async (
  transaction: Transaction,
  clock: Clock,
  { sourceId, targetId, revision }: BegunCopy,
  expiresAt: Date | null,
): Promise<Result<void>> => {
  const source = await transaction.lockEnvironment(sourceId);
  const now = clock();
  const isHeld = await transaction.renewCopy(targetId, copyLease(now), now);
  // What is being deleted is no longer whole.
  const isThere = (await transaction.environments()).some(({ id }) => id === sourceId);
  if (!source || !isHeld || !isThere) return lost;
  await transaction.finishCopy(sourceId, targetId, revision, expiresAt);
  return ok(undefined);
};
