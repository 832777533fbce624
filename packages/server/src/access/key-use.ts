// Writes down from time to time which keys were used since the last time.

import type { Snapshots } from "../evaluation/snapshots.ts";
import type { Clock, Store } from "../ports.ts";

const flushPause = 60_000;

export interface KeyUse {
  flush(): Promise<void>;
  close(): Promise<void>;
}

export const createKeyUse = (
  snapshots: Pick<Snapshots, "takeUsedKeys">,
  store: Pick<Store, "keysUsed">,
  clock: Clock,
  failed: (error: unknown) => void,
): KeyUse => {
  const flush = async (): Promise<void> => {
    const keyIds = snapshots.takeUsedKeys();
    if (keyIds.length > 0) await store.keysUsed(keyIds, clock());
  };
  // What could not be written is let go: whoever uses a key uses it again.
  const timer = setInterval(() => {
    flush().catch(failed);
  }, flushPause).unref();
  return {
    flush,
    async close() {
      clearInterval(timer);
      await flush().catch(failed);
    },
  };
};
