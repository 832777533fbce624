// Limits how many transactions run at once, so that reads always find a connection and no transaction waits forever.
import { StoreUnavailable } from "../../errors.ts";

export interface Gate {
  run<T>(callback: () => Promise<T>): Promise<T>;
  readonly waiting: () => number;
}

/** A transaction waits at most `timeout` milliseconds for its turn. */
export const createGate = (places: number, timeout: number): Gate => {
  const waiting: (() => void)[] = [];
  let free = places;

  const enter = (): Promise<void> => {
    if (free > 0) {
      free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        waiting.splice(waiting.indexOf(admit), 1);
        reject(
          new StoreUnavailable(
            `All PostgreSQL connections for changes were busy for ${timeout / 1_000} seconds.`,
          ),
        );
      };
      const timer = setTimeout(giveUp, timeout);
      const admit = () => {
        clearTimeout(timer);
        resolve();
      };
      waiting.push(admit);
    });
  };

  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };

  return {
    async run(callback) {
      await enter();
      try {
        return await callback();
      } finally {
        leave();
      }
    },
    waiting: () => waiting.length,
  };
};
