// Timers that do not keep a program running, where the runtime supports that.

const longest = 2 ** 31 - 1;

/** Returns the function that cancels the timer. */
export const startTimer = (milliseconds: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, Math.min(milliseconds, longest));
  // A browser's timer is a number.
  (timer as { unref?: () => unknown }).unref?.();
  return () => clearTimeout(timer);
};

/** Resolves after the time, or when the signal aborts. */
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
