// The reader of the output may exit early: work continues without output, and commands that only print can stop.

const left = new AbortController();

/** Aborts when nothing reads standard output any more, which is noticed at the next print. */
export const outputClosed: AbortSignal = left.signal;

/** A pipe or socket without a reader, a terminal that was closed. */
const codes: readonly (string | undefined)[] = ["EPIPE", "ECONNRESET", "EIO"];

export const ignoreClosedOutput = (): void => {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (!codes.includes(error.code)) throw error;
      if (stream === process.stdout) left.abort();
    });
  }
};

/** For commands that run until they are stopped: by a signal, by the loss of their reader, or by themselves. */
export const untilStopped = (): AbortController => {
  const stop = new AbortController();
  // Further signals change nothing: it is stopping already.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stop.abort());
  outputClosed.addEventListener("abort", () => stop.abort());
  return stop;
};
