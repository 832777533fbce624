// One request and its response, with a timeout and the caller's signal.

import type { Fetch } from "./read-event-stream.ts";
import { startTimer } from "./timers.ts";

export interface Exchange<T> {
  readonly fetch: Fetch;
  readonly url: string;
  readonly init: RequestInit;
  /** For request and response, in milliseconds. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
  readonly read: (response: Response) => Promise<T>;
}

/** Rejects as fetch does, also after the timeout. */
export const exchange = async <T>(options: Exchange<T>): Promise<T> => {
  const { fetch, url, init, timeout, signal, read } = options;
  const stop = new AbortController();
  const abort = () => stop.abort(signal?.reason);
  if (signal?.aborted === true) abort();
  signal?.addEventListener("abort", abort);
  const cancel = startTimer(timeout, () =>
    stop.abort(new Error(`no response within ${timeout} milliseconds`)),
  );
  try {
    return await read(await fetch(url, { redirect: "manual", ...init, signal: stop.signal }));
  } finally {
    cancel();
    signal?.removeEventListener("abort", abort);
  }
};
