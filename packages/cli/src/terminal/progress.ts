// Shows the progress of long work in one line on standard error, updated in place, on a terminal only.

export interface Progress {
  /** The number of completed items, and the total if known. */
  at(done: number, total?: number): void;
  /** Removes the line. */
  end(): void;
}

const updateInterval = 100;

export const createProgress = (what: string): Progress => {
  const { stderr } = process;
  if (!stderr.isTTY) return { at: () => undefined, end: () => undefined };
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    at(done, total) {
      const now = performance.now();
      if (now - shownAt < updateInterval && done !== total) return;
      shownAt = now;
      const share = total === 0 ? 100 : Math.floor((100 * done) / (total ?? done));
      const of = total === undefined ? "" : ` of ${total} (${share}%)`;
      stderr.write(`\r\x1b[K${what}: ${done}${of}`);
    },
    end: () => void stderr.write("\r\x1b[K"),
  };
};
