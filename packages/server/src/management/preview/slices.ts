// Runs long work in slices: one in each turn of the event loop, however much of it there is, so that evaluations go on.

/** Milliseconds. */
const slice = 5;

type RunInSlices = <T>(work: Generator<void, T>) => Promise<T>;

export const createRunInSlices = (now: () => number): RunInSlices => {
  /** All of them wait in one row: each on its own would get a slice in every turn. */
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
