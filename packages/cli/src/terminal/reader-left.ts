// Whoever reads what is printed may leave early: the work goes on, unheard; what only prints can end.

const left = new AbortController();

/** Aborted when nobody reads standard output any more, which shows when something is printed. */
export const readerLeft: AbortSignal = left.signal;

/** A pipe or socket without a reader, a terminal that was closed. */
const codes: readonly (string | undefined)[] = ["EPIPE", "ECONNRESET", "EIO"];

export const outliveReaders = (): void => {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (!codes.includes(error.code)) throw error;
      if (stream === process.stdout) left.abort();
    });
  }
};
