// Timers that never keep a program from ending, where the runtime knows such timers.

const longest = 2 ** 31 - 1;

/** Runs it after so many milliseconds; the function given back prevents that. */
export const startTimer = (milliseconds: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, Math.min(milliseconds, longest));
  // A browser's timer is a number.
  (timer as { unref?: () => unknown }).unref?.();
  return () => clearTimeout(timer);
};

/** Ends after the time, or at once when the signal is given. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = startTimer(milliseconds, end);
    signal.addEventListener("abort", end);
  });
