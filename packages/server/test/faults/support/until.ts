// Waits until a condition holds.
import { setTimeout as wait } from "node:timers/promises";
import { nextPause } from "../../support/until.ts";

/** Comes back with the milliseconds it took; fails, saying what was waited for, when the time is over. */
export const until = async (
  what: string,
  holds: () => boolean | Promise<boolean>,
  { within = 600_000, every }: { readonly within?: number; readonly every?: number } = {},
): Promise<number> => {
  const started = performance.now();
  for (;;) {
    if (await holds()) return performance.now() - started;
    const waited = performance.now() - started;
    if (waited > within) throw new Error(`not within ${within / 1_000} s: ${what}`);
    await wait(every ?? nextPause(waited));
  }
};
