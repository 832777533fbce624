// A store that runs the next step before each of its transactions, so that a test says what happens in between.
import type { Store } from "../../src/platform/database/store.ts";

export const interleaved = (store: Store, steps: readonly (() => Promise<void>)[]): Store => {
  let calls = 0;
  return {
    ...store,
    async transact(callback) {
      const step = steps[calls];
      calls += 1;
      await step?.();
      return store.transact(callback);
    },
  };
};
