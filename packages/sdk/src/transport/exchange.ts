// One request and its response, with a deadline and the caller's signal.
import { startTimer } from "./timers.ts";

export type Fetch = typeof globalThis.fetch;

export interface Exchange<T> {
  readonly fetch: Fetch;
  readonly url: string;
  readonly init: RequestInit;
  /** For the request and its response, in milliseconds, unless `read` sets another deadline. */
  readonly timeout: number;
  readonly signal?: AbortSignal | undefined;
  readonly read: (response: Response, deadline: Deadline) => Promise<T>;
}

export interface Deadline {
  /** Aborts at the deadline, and when the caller's signal aborts. */
  readonly signal: AbortSignal;
  /** Moves the deadline to this number of milliseconds from now. */
  readonly extend: (milliseconds: number) => void;
}

/** Rejects when fetch rejects, and at the deadline. */
export const exchange = async <T>(options: Exchange<T>): Promise<T> => {
  const { fetch, url, init, timeout, read } = options;
  const stop = new AbortController();
  const { signal } = stop;
  const abort = () => stop.abort();
  options.signal?.addEventListener("abort", abort);
  if (options.signal?.aborted) abort();
  let cancel = () => {};
  const extend = (milliseconds: number) => {
    cancel();
    const expire = () => stop.abort(new Error(`timed out after ${milliseconds} ms`));
    cancel = startTimer(milliseconds, expire);
  };
  try {
    extend(timeout);
    return await read(await fetch(url, { redirect: "manual", ...init, signal }), {
      signal,
      extend,
    });
  } finally {
    cancel();
    options.signal?.removeEventListener("abort", abort);
  }
};
