// Waits until a condition holds.
import { setTimeout as wait } from "node:timers/promises";

/** Comes back with the milliseconds it took; fails, saying what was waited for, when the time is over. */
export const until = async (
  what: string,
  holds: () => boolean | Promise<boolean>,
  { within = 600_000, every = 5 }: { readonly within?: number; readonly every?: number } = {},
): Promise<number> => {
  const started = performance.now();
  for (;;) {
    if (await holds()) return performance.now() - started;
    if (performance.now() - started > within) {
      throw new Error(`not within ${within / 1_000} s: ${what}`);
    }
    await wait(every);
  }
};
