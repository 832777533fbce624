// Group commit: changes that wait for the same lock are committed together, with one flush of the disk.
import { CompiledQuery } from "kysely";
import { StoreUnavailable } from "../../errors.ts";
import type { Database, Transact } from "../schema/tables.ts";

/**
 * Gets what the one before it in the same transaction has returned, unless that one was undone, and what all of them will
 * read.
 */
type PartWork<Part> = (
  database: Database,
  reads: readonly string[],
  before?: Part,
) => Promise<Part>;

interface Waiting<Part> {
  readonly work: PartWork<Part>;
  readonly reads: readonly string[];
  readonly resolve: (value: Part) => void;
  readonly reject: (reason: unknown) => void;
}

/** Changes in one transaction at most, so that the first of them does not wait long for the last. */
const maxTogether = 64;

const savepoint = CompiledQuery.raw("savepoint part");
const undo = CompiledQuery.raw("rollback to part");

/** Refuses a request when too many wait for the database: a slow one must not fill the memory with them. */
export const refuseWhenCrowded = (waiting: number, maxWaiting: number): void => {
  if (waiting < maxWaiting) return;
  throw new StoreUnavailable(`${maxWaiting} requests already wait for the store.`, {
    isCrowded: true,
  });
};

/** Runs the work in a savepoint, which lasts until the commit: those of the same name hide one another. */
const runPart = async <Part>(
  database: Database,
  { work, reject }: Waiting<Part>,
  reads: readonly string[],
  before: Part | undefined,
): Promise<{ readonly value: Part } | { readonly fail: () => void }> => {
  await database.executeQuery(savepoint);
  try {
    return { value: await work(database, reads, before) };
  } catch (error) {
    // Fails when the database has rolled back the whole transaction by itself: then none of the others has happened either.
    await database.executeQuery(undo);
    return { fail: () => reject(error) };
  }
};

/**
 * Each work is atomic: it sees what those before it have done, and is rolled back without them. `finish` writes the rest for
 * all of them. When the transaction as a whole fails, each is run again alone, so that only the one that caused it fails.
 */
export const groupCommit = <Part>(
  transact: Transact,
  maxWaiting: number,
  finish: (database: Database, parts: readonly Part[]) => Promise<void>,
) => {
  /** Those that wait for a transaction with the same key, which is at work. */
  const queues = new Map<number, Waiting<Part>[]>();
  let waiting = 0;

  const alone = (work: PartWork<Part>, reads: readonly string[]): Promise<Part> =>
    transact(async (database) => {
      const part = await work(database, reads);
      await finish(database, [part]);
      return part;
    });

  const runAlone = ({ work, reads, resolve, reject }: Waiting<Part>): Promise<void> =>
    alone(work, reads).then(resolve, reject);

  const runTogether = async (group: readonly Waiting<Part>[]): Promise<void> => {
    try {
      const reads = group.flatMap((one) => one.reads);
      const outcomes = await transact(async (database) => {
        const parts: Awaited<ReturnType<typeof runPart<Part>>>[] = [];
        for (const one of group) {
          const last = parts.at(-1);
          parts.push(
            await runPart(database, one, reads, last && "value" in last ? last.value : undefined),
          );
        }
        await finish(
          database,
          parts.flatMap((part) => ("value" in part ? [part.value] : [])),
        );
        return parts;
      });
      for (const [index, outcome] of outcomes.entries()) {
        if ("value" in outcome) group[index]?.resolve(outcome.value);
        else outcome.fail();
      }
    } catch (error) {
      if (error instanceof StoreUnavailable) {
        // Each of them would wait as long again; or all of them are committed, and the answer was lost.
        for (const { reject } of group) reject(error);
        return;
      }
      for (const one of group) await runAlone(one);
    }
  };

  const runAll = async (key: number, queue: Waiting<Part>[]): Promise<void> => {
    while (queue.length > 0) {
      const group = queue.splice(0, maxTogether);
      const [first] = group;
      if (group.length === 1 && first) await runAlone(first);
      else await runTogether(group);
      waiting -= group.length;
    }
    queues.delete(key);
  };

  return {
    alone,
    /** With others of the same key. */
    together: async (
      key: number,
      work: PartWork<Part>,
      reads: readonly string[],
    ): Promise<Part> => {
      refuseWhenCrowded(waiting, maxWaiting);
      waiting += 1;
      return new Promise((resolve, reject) => {
        const one = { work, reads, resolve, reject };
        const queue = queues.get(key);
        if (queue) {
          queue.push(one);
          return;
        }
        const fresh = [one];
        queues.set(key, fresh);
        // In a later phase of the event loop: SQLite is synchronous, so a change that began now would be committed before
        // the next request is read.
        setImmediate(() => void runAll(key, fresh));
      });
    },
  };
};
