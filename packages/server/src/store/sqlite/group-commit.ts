// Changes that wait for the same database are committed together: one flush of the disk does for all of them.
import { type Kysely, sql, type Transaction } from "kysely";
import { StoreUnavailable } from "../../errors.ts";
import type { Tables } from "../schema/tables.ts";

type Work<T> = (database: Kysely<Tables>) => Promise<T>;
export type Transact = <T>(work: Work<T>) => Promise<T>;

interface Waiting {
  readonly work: Work<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** So many at once, so that the first of them does not wait long for the last. */
const maxTogether = 64;

/** Runs the work in a part of the transaction that can be undone alone; gives what to tell once all is committed. */
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
    // Fails when SQLite has undone the whole transaction by itself: then nothing of the others has happened either.
    await sql`rollback to part`.execute(database);
    await sql`release part`.execute(database);
    return () => reject(error);
  }
};

/**
 * Each work is all or nothing, as if it were alone: it sees what those before it have done, and is undone without them. When
 * the transaction as a whole fails, each is run again alone, so that only the one to blame fails.
 */
export const groupCommit = (database: Kysely<Tables>): Transact => {
  const alone: Transact = (work) => database.transaction().execute(work);
  let waiting: Waiting[] = [];
  let isBusy = false;

  const runAlone = ({ work, resolve, reject }: Waiting): Promise<void> =>
    alone(work).then(resolve, reject);

  const runTogether = async (group: readonly Waiting[]): Promise<void> => {
    let hasBegun = false;
    try {
      const told = await alone(async (transaction) => {
        hasBegun = true;
        const parts: (() => void)[] = [];
        for (const one of group) {
          parts.push(await runPart(transaction as Transaction<Tables>, one));
        }
        return parts;
      });
      for (const tell of told) tell();
    } catch (error) {
      if (!hasBegun && error instanceof StoreUnavailable) {
        // Another process has held the database for as long as anybody waits: one after the other would not fare better.
        for (const { reject } of group) reject(error);
        return;
      }
      for (const one of group) await runAlone(one);
    }
  };

  const runAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const group = waiting.slice(0, maxTogether);
      waiting = waiting.slice(maxTogether);
      const [first] = group;
      if (group.length === 1 && first) await runAlone(first);
      else await runTogether(group);
    }
    isBusy = false;
  };

  return <T>(work: Work<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
      if (isBusy) return;
      isBusy = true;
      // At the end of this turn: SQLite answers at once, so whoever began now would be done before the next request is read.
      setImmediate(() => void runAll());
    });
};
