// Timers that do not keep a program running, where the runtime supports that.

/** Longer ones would run immediately. */
export const longestTimer = 2 ** 31 - 1;

/** Returns the function that cancels the timer. */
export const startTimer = (milliseconds: number, run: () => void): (() => void) => {
  const timer = setTimeout(run, Math.min(milliseconds, longestTimer));
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

/** Runs after each pause. The next pause begins when the run ends. Returns the function that stops this. */
export const runRepeatedly = (
  nextPause: () => number,
  run: () => void | Promise<void>,
): (() => void) => {
  const stop = new AbortController();
  const repeat = async () => {
    for (;;) {
      await pause(nextPause(), stop.signal);
      if (stop.signal.aborted) return;
      await run();
    }
  };
  void repeat();
  return () => stop.abort();
};
