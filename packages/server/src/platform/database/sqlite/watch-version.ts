// Polls a number that every commit of any process changes, and notifies its listeners.

/** Milliseconds between reads; each takes about a microsecond. */
const pause = 25;

export interface VersionWatch {
  readonly listen: (listener: () => void) => () => void;
  readonly stop: () => void;
}

export const watchVersion = (version: () => number): VersionWatch => {
  const listeners = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  let seen = Number.NaN;
  const look = () => {
    try {
      const current = version();
      if (current === seen) return;
      seen = current;
    } catch {
      // Not readable right now: whoever acts on the hint will get the error.
    }
    for (const listener of listeners) listener();
  };
  return {
    listen(listener) {
      listeners.add(listener);
      timer ??= setInterval(look, pause).unref();
      return () => listeners.delete(listener);
    },
    stop: () => clearInterval(timer),
  };
};
