// Writes what was counted: every minute, when a reader needs it, and at the end.

/** Milliseconds between two writes. */
export const flushPause = 60_000;

export interface PeriodicFlush {
  /** Writes what was counted before the call. Rejects if the write fails. */
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Runs one write after the other, so that a flush also waits for what an earlier one has taken and not stored yet. */
export const startPeriodicFlush = (
  write: () => Promise<void>,
  failed: (error: unknown) => void,
): PeriodicFlush => {
  let last: Promise<void> = Promise.resolve();
  const flush = (): Promise<void> => {
    last = last.catch(() => undefined).then(write);
    return last;
  };
  const timer = setInterval(() => {
    flush().catch(failed);
  }, flushPause).unref();
  return {
    flush,
    async close() {
      clearInterval(timer);
      await flush().catch(failed);
    },
  };
};
