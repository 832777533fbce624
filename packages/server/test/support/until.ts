// Waits on a condition: asks again and again, and says what it waited for when it gives up.
import { setTimeout as pause } from "node:timers/promises";

/** Only what hangs takes so long, however busy the machine is. */
const patience = 600_000;

/** How long to wait before asking again: who has waited long need not know to the millisecond, and asking costs. */
export const nextPause = (waited: number): number => Math.min(100, Math.max(5, waited / 20));

/** The first answer that is neither undefined nor false. */
export const until = async <T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> => {
  const started = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    const waited = performance.now() - started;
    if (waited > patience) throw new Error(`waited ${patience} ms in vain: ${what}`);
    await pause(nextPause(waited));
  }
};
