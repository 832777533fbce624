// A store that lets only so many wait for it at once, so that a slow database does not fill the memory with those who wait.
import { StoreUnavailable } from "../../errors.ts";
import type { Store } from "../../ports.ts";

type Call = (...values: readonly unknown[]) => unknown;

/** For those who can be told to come back. What is answered at once is not counted. */
export const limitCrowd = (store: Store, places: number, onRefused: () => void): Store => {
  let inside = 0;
  const leave = (): void => {
    inside -= 1;
  };
  const limited =
    (call: Call): Call =>
    (...values) => {
      if (inside >= places) {
        onRefused();
        throw new StoreUnavailable(`${places} requests already wait for the store.`, {
          isCrowded: true,
        });
      }
      const result = call(...values);
      if (!(result instanceof Promise)) return result;
      inside += 1;
      result.then(leave, leave);
      return result;
    };
  const calls = Object.entries(store).map(([name, value]) =>
    // Who is told of changes waits for nothing.
    typeof value !== "function" || name.startsWith("on") ? [name, value] : [name, limited(value)],
  );
  return Object.fromEntries(calls) as unknown as Store;
};
