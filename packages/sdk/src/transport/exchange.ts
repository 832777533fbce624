// One request with its answer read, within a time limit and for as long as the caller wants it.

import type { Fetch } from "./read-event-stream.ts";
import { startTimer } from "./timers.ts";

export interface Exchange<T> {
  readonly fetch: Fetch;
  readonly url: string;
  readonly init: RequestInit;
  /** For all of it, in milliseconds. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
  readonly read: (answer: Response) => Promise<T>;
}

/** Rejects as fetch does, also when the time is over. */
export const exchange = async <T>(wanted: Exchange<T>): Promise<T> => {
  const { fetch, url, init, timeout, signal, read } = wanted;
  const stop = new AbortController();
  const abort = () => stop.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener("abort", abort);
  const cancel = startTimer(timeout, () =>
    stop.abort(new Error(`no answer within ${timeout} milliseconds`)),
  );
  try {
    return await read(await fetch(url, { ...init, signal: stop.signal }));
  } finally {
    cancel();
    signal?.removeEventListener("abort", abort);
  }
};
