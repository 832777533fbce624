// Waits on a condition: asks again and again, and says what it waited for when it gives up.
import { setTimeout as pause } from "node:timers/promises";

/** Only what hangs takes so long, however busy the machine is. */
const patience = 600_000;

/** The first answer that is neither undefined nor false. */
export const until = async <T>(
  what: string,
  ask: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> => {
  const end = performance.now() + patience;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > end) throw new Error(`waited ${patience} ms in vain: ${what}`);
    await pause(20);
  }
};
