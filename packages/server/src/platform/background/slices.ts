// Runs long work in slices: one per tick of the event loop, however much work there is, so that other requests proceed.

/** Milliseconds that a slice delays other requests. */
const slice = 1;

/** The work can pause wherever it yields. */
export type RunInSlices = <T>(work: Generator<void, T>) => Promise<T>;

/** Create one for the whole process: several would each take a slice of every tick. */
export const createRunInSlices = (now: () => number): RunInSlices => {
  let lastTurn: Promise<void> = Promise.resolve();
  const nextTurn = (): Promise<void> => {
    lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)));
    return lastTurn;
  };

  return async (work) => {
    for (;;) {
      await nextTurn();
      const begun = now();
      do {
        const step = work.next();
        if (step.done) return step.value;
      } while (now() - begun < slice);
    }
  };
};

/** Runs one task after the other. */
export const createQueue = () => {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return {
    /** Includes the running task. */
    get length() {
      return waiting;
    },
    run<T>(task: () => Promise<T>): Promise<T> {
      waiting += 1;
      const result = last.then(task).finally(() => {
        waiting -= 1;
      });
      last = result.catch(() => undefined);
      return result;
    },
  };
};
export type Queue = ReturnType<typeof createQueue>;
