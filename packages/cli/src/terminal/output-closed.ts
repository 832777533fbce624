// Handles a reader of the output that exits early: work continues without output, and commands that only print stop.

const left = new AbortController();

/** Aborts once the reader of standard output is gone, which the next print detects. */
export const outputClosed: AbortSignal = left.signal;

/** A pipe or socket without a reader, or a closed terminal. */
const codes: readonly (string | undefined)[] = ["EPIPE", "ECONNRESET", "EIO"];

export const ignoreClosedOutput = (): void => {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (!codes.includes(error.code)) throw error;
      if (stream === process.stdout) left.abort();
    });
  }
};

/** For commands that run until they are stopped, lose their reader or finish. */
export const untilStopped = (): AbortController => {
  const stop = new AbortController();
  // Ignores further signals while stopping.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => stop.abort());
  outputClosed.addEventListener("abort", () => stop.abort());
  return stop;
};
