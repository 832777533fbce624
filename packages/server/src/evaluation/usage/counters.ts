// Counts evaluations in memory and adds them to the store's hours from time to time.
import { ResultCounter } from "@halyard/core/result-counts";
import { startPeriodicFlush } from "../../platform/background/periodic-flush.ts";
import type { Clock, Store } from "../../platform/database/store.ts";
import type { Counter, Counters } from "../snapshot.ts";
import type { FlagUsage } from "./counts.ts";
import { addUsage } from "./queries.ts";

export const hourLength = 3_600_000;
/** Stored of one flag at once: reported counts must stay exact in a double. */
const maxCount = 1e10;

/** The beginning of the hour that a time lies in. */
export const hourOf = (time: Date): Date =>
  new Date(Math.floor(time.getTime() / hourLength) * hourLength);

/** What was counted elsewhere, or could not be stored. */
export const addTo = (counter: Counter, counts: Omit<FlagUsage, "flagKey" | "lastAt">): void => {
  counter.on += counts.on;
  counter.off += counts.off;
  if (counts.variants === undefined && counts.rules === undefined) return;
  counter.results ??= new ResultCounter();
  counter.results.add(counts);
};

export interface Usage {
  readonly counters: Counters;
  /** Stores what was counted before the call; what cannot be stored is kept. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export const createUsage = (
  store: Pick<Store, "transactAsyncCommit">,
  clock: Clock,
  failed: (error: unknown) => void,
): Usage => {
  const environments = new Map<number, Map<string, Counter>>();

  /** What was counted, taken out of the counters. */
  const take = (counters: ReadonlyMap<string, Counter>): FlagUsage[] => {
    const lastAt = clock();
    const taken: FlagUsage[] = [];
    for (const [flagKey, counter] of counters) {
      const on = Math.min(counter.on, maxCount);
      const off = Math.min(counter.off, maxCount);
      if (on + off === 0) continue;
      taken.push({ flagKey, on, off, ...counter.results?.take(maxCount), lastAt });
      counter.on = 0;
      counter.off = 0;
      // Also what is more than the most that is stored at once.
      counter.results?.clear();
    }
    return taken;
  };

  const putBack = (counters: ReadonlyMap<string, Counter>, taken: readonly FlagUsage[]) => {
    for (const each of taken) {
      const counter = counters.get(each.flagKey);
      if (counter) addTo(counter, each);
    }
  };

  const write = async (): Promise<void> => {
    for (const [environmentId, counters] of environments) {
      const taken = take(counters);
      if (taken.length === 0) continue;
      try {
        const hour = hourOf(clock());
        await store.transactAsyncCommit((db) => addUsage(db, environmentId, hour, taken));
      } catch (error) {
        putBack(counters, taken);
        throw error;
      }
    }
  };

  return {
    ...startPeriodicFlush(write, failed),
    counters: {
      of(environmentId, flagKey) {
        let counters = environments.get(environmentId);
        if (!counters) {
          counters = new Map();
          environments.set(environmentId, counters);
        }
        let counter = counters.get(flagKey);
        if (!counter) {
          counter = { on: 0, off: 0, results: undefined };
          counters.set(flagKey, counter);
        }
        return counter;
      },
      forget(environmentId, flagKey) {
        if (flagKey === undefined) environments.delete(environmentId);
        else environments.get(environmentId)?.delete(flagKey);
      },
    },
  };
};
