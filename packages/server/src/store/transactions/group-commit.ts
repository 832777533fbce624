// Group commit: changes that wait for the same database are committed together, with one flush of the disk.
import { CompiledQuery } from "kysely";
import { StoreUnavailable } from "../../errors.ts";
import type { Database, Transact, Work } from "../schema/tables.ts";

interface Waiting {
  readonly work: Work<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Changes in one transaction at most, so that the first of them does not wait long for the last. */
const maxTogether = 64;

const savepoint = CompiledQuery.raw("savepoint part");
const release = CompiledQuery.raw("release part");
const undo = CompiledQuery.raw("rollback to part");

/** Refuses a request when too many wait for the database: a slow one must not fill the memory with them. */
export const refuseWhenCrowded = (waiting: number, maxWaiting: number): void => {
  if (waiting < maxWaiting) return;
  throw new StoreUnavailable(`${maxWaiting} requests already wait for the store.`, {
    isCrowded: true,
  });
};

/** Runs the work in a savepoint; returns how to report its outcome once everything is committed. */
const runPart = async (
  database: Database,
  { work, resolve, reject }: Waiting,
): Promise<() => void> => {
  await database.executeQuery(savepoint);
  try {
    const value = await work(database);
    await database.executeQuery(release);
    return () => resolve(value);
  } catch (error) {
    // Fails when the database has rolled back the whole transaction by itself: then none of the others has happened either.
    await database.executeQuery(undo);
    await database.executeQuery(release);
    return () => reject(error);
  }
};

/**
 * Each work is atomic: it sees what those before it have done, and is rolled back without them. When the transaction as a
 * whole fails, each is run again alone, so that only the one that caused it fails.
 */
export const groupCommit = (transact: Transact, maxWaiting: number): Transact => {
  const queue: Waiting[] = [];
  let running = 0;
  let isBusy = false;

  const runAlone = ({ work, resolve, reject }: Waiting): Promise<void> =>
    transact(work).then(resolve, reject);

  const runTogether = async (group: readonly Waiting[]): Promise<void> => {
    let hasBegun = false;
    try {
      const reports = await transact(async (database) => {
        hasBegun = true;
        const parts: (() => void)[] = [];
        for (const one of group) parts.push(await runPart(database, one));
        return parts;
      });
      for (const report of reports) report();
    } catch (error) {
      if (!hasBegun && error instanceof StoreUnavailable) {
        // Another process has held the write lock for the whole timeout: each of them would wait as long again.
        for (const { reject } of group) reject(error);
        return;
      }
      for (const one of group) await runAlone(one);
    }
  };

  const runAll = async (): Promise<void> => {
    while (queue.length > 0) {
      const group = queue.splice(0, maxTogether);
      running = group.length;
      const [first] = group;
      if (group.length === 1 && first) await runAlone(first);
      else await runTogether(group);
    }
    running = 0;
    isBusy = false;
  };

  return async <T>(work: Work<T>) => {
    refuseWhenCrowded(running + queue.length, maxWaiting);
    return new Promise<T>((resolve, reject) => {
      queue.push({ work, resolve: resolve as (value: unknown) => void, reject });
      if (isBusy) return;
      isBusy = true;
      // In a later phase of the event loop: SQLite is synchronous, so a change that began now would be committed before
      // the next request is read.
      setImmediate(() => void runAll());
    });
  };
};
