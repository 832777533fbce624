// Stores from time to time which keys were used since the last time.

import type { Clock, Store } from "../database/store.ts";
import type { KeyTable } from "./key-table.ts";

const flushPause = 60_000;

export interface KeyUse {
  flush(): Promise<void>;
  close(): Promise<void>;
}

export const createKeyUse = (
  table: Pick<KeyTable, "takeUsedKeys">,
  store: Pick<Store, "keysUsed">,
  clock: Clock,
  failed: (error: unknown) => void,
): KeyUse => {
  const flush = async (): Promise<void> => {
    const keyIds = table.takeUsedKeys();
    if (keyIds.length > 0) await store.keysUsed(keyIds, clock());
  };
  // What could not be written is dropped: a key that is in use is used again.
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
