// Lets so many transactions begin at once, so that reads always find a connection and nobody waits without end.
import { StoreUnavailable } from "../../errors.ts";

export type Gate = <T>(work: () => Promise<T>) => Promise<T>;

export const createGate = (places: number, patience: number): Gate => {
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
            `Every connection to PostgreSQL that may change something was busy for ${patience / 1_000} seconds.`,
          ),
        );
      };
      const timer = setTimeout(giveUp, patience);
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

  return async (work) => {
    await enter();
    try {
      return await work();
    } finally {
      leave();
    }
  };
};
