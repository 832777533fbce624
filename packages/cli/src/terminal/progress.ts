// How far long work has come: one line on standard error that is written over, on a terminal only.

export interface Progress {
  /** So many are done; of so many, where that is known. */
  at(done: number, total?: number): void;
  /** Takes the line away. */
  end(): void;
}

const oftenEnough = 100;

export const createProgress = (what: string): Progress => {
  const { stderr } = process;
  if (!stderr.isTTY) return { at: () => undefined, end: () => undefined };
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    at(done, total) {
      const now = performance.now();
      if (now - shownAt < oftenEnough && done !== total) return;
      shownAt = now;
      const share = total === 0 ? 100 : Math.floor((100 * done) / (total ?? done));
      const of = total === undefined ? "" : ` of ${total} (${share} %)`;
      stderr.write(`\r\x1b[K${what}: ${done}${of}`);
    },
    end: () => void stderr.write("\r\x1b[K"),
  };
};
