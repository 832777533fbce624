// Group commit: changes that wait for the same database are committed together, with one flush of the disk.
import { sql, type Transaction } from "kysely";
import { StoreUnavailable } from "../../errors.ts";
import type { Database, Tables, Transact, Work } from "../schema/tables.ts";
import { refuseWhenCrowded } from "../sql/store.ts";

interface Waiting {
  readonly work: Work<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Changes in one transaction at most, so that the first of them does not wait long for the last. */
const maxTogether = 64;

/** Runs the work in a savepoint; returns how to report its outcome once everything is committed. */
const runPart = async (
  database: Transaction<Tables>,
  { work, resolve, reject }: Waiting,
): Promise<() => void> => {
  await sql`savepoint part`.execute(database);
  try {
    const value = await work(database);
    await sql`release part`.execute(database);
    return () => resolve(value);
  } catch (error) {
    // Fails when SQLite has rolled back the whole transaction by itself: then none of the others has happened either.
    await sql`rollback to part`.execute(database);
    await sql`release part`.execute(database);
    return () => reject(error);
  }
};

/**
 * Each work is atomic: it sees what those before it have done, and is rolled back without them. When the transaction as a
 * whole fails, each is run again alone, so that only the one that caused it fails.
 */
export const groupCommit = (database: Database, maxWaiting: number): Transact => {
  const queue: Waiting[] = [];
  let running = 0;
  let isBusy = false;

  const runAlone = ({ work, resolve, reject }: Waiting): Promise<void> =>
    database.transaction().execute(work).then(resolve, reject);

  const runTogether = async (group: readonly Waiting[]): Promise<void> => {
    let hasBegun = false;
    try {
      const reports = await database.transaction().execute(async (transaction) => {
        hasBegun = true;
        const parts: (() => void)[] = [];
        for (const one of group) parts.push(await runPart(transaction, one));
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
