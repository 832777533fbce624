// Stores from time to time which keys were used since the last time.

import type { Clock, Store } from "../database/store.ts";
import { updateKeyUse } from "./key-queries.ts";
import type { KeyTable } from "./key-table.ts";

const flushPause = 60_000;

export interface KeyUse {
  flush(): Promise<void>;
  close(): Promise<void>;
}

export const createKeyUse = (
  table: Pick<KeyTable, "drainUsedKeys">,
  store: Pick<Store, "transactAsyncCommit">,
  clock: Clock,
  failed: (error: unknown) => void,
): KeyUse => {
  const flush = async (): Promise<void> => {
    const keyIds = table.drainUsedKeys();
    if (keyIds.length === 0) return;
    const at = clock();
    await store.transactAsyncCommit((db) => updateKeyUse(db, keyIds, at));
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
