// Group commit: changes that wait for the same lock are committed together, with one flush of the disk.
import { StoreUnavailable } from "../errors.ts";
import type { Database, Transact } from "./schema/tables.ts";

type PartCallback<Part> = (database: Database) => Promise<Part>;

interface Waiting<Part> {
  readonly callback: PartCallback<Part>;
  readonly resolve: (value: Part) => void;
  readonly reject: (reason: unknown) => void;
}

/** Changes in one transaction at most, so that the first of them does not wait long for the last. */
const maxTogether = 64;

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** Refuses a request when too many wait for the database: a slow one must not fill the memory with them. */
export const refuseWhenCrowded = (waiting: number, maxWaiting: number): void => {
  if (waiting < maxWaiting) return;
  throw new StoreUnavailable(`${maxWaiting} requests already wait for the store.`, {
    isCrowded: true,
  });
};

/**
 * Each callback is atomic: it sees what those before it have done, and fails without them. `finish` writes the rest for all of
 * them. Nothing marks where a callback began: when one fails, the transaction is rolled back, and the others are run again.
 */
export const groupCommit = <Part>(
  transact: Transact,
  maxWaiting: number,
  finish: (database: Database, parts: readonly Part[]) => Promise<void>,
) => {
  /** Those that wait for a transaction with the same key, which is at work. */
  const queues = new Map<number, Waiting<Part>[]>();
  let waiting = 0;

  const alone = (callback: PartCallback<Part>): Promise<Part> =>
    transact(async (database) => {
      const part = await callback(database);
      await finish(database, [part]);
      return part;
    });

  const runTogether = async (group: readonly Waiting<Part>[]): Promise<void> => {
    if (group.length === 0) return;
    /** The one at work; as many as there are when it is their commit. */
    let at = 0;
    try {
      const parts = await transact(async (database) => {
        const done: Part[] = [];
        for (at = 0; at < group.length; at += 1) {
          const { callback } = group[at] as Waiting<Part>;
          done.push(await callback(database));
        }
        await finish(database, done);
        return done;
      });
      for (const [index, part] of parts.entries()) group[index]?.resolve(part);
    } catch (error) {
      // While the store is unavailable, each of them would wait as long again; or all are committed, and the answer was lost.
      if (group.length === 1 || error instanceof StoreUnavailable) {
        for (const { reject } of group) reject(error);
        return;
      }
      const failed = group[at];
      const parts = failed
        ? [group.slice(0, at), [failed], group.slice(at + 1)]
        : group.map((one) => [one]);
      for (const part of parts) {
        await nextTurn();
        await runTogether(part);
      }
    }
  };

  /**
   * In a later phase of the event loop: SQLite is synchronous, so a change that began now would be committed before the next
   * request is read. Before every transaction: evaluations wait for one of them at most, however many changes there are.
   */
  const runAll = async (key: number, queue: Waiting<Part>[]): Promise<void> => {
    while (queue.length > 0) {
      await nextTurn();
      const group = queue.splice(0, maxTogether);
      await runTogether(group);
      waiting -= group.length;
    }
    queues.delete(key);
  };

  return {
    alone,
    /** With others of the same key. */
    together: (key: number, callback: PartCallback<Part>): Promise<Part> => {
      refuseWhenCrowded(waiting, maxWaiting);
      waiting += 1;
      return new Promise((resolve, reject) => {
        const one = { callback, resolve, reject };
        const queue = queues.get(key);
        if (queue) {
          queue.push(one);
          return;
        }
        const fresh = [one];
        queues.set(key, fresh);
        void runAll(key, fresh);
      });
    },
  };
};
