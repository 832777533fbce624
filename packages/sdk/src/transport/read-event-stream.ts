// One connection to an event stream, until it ends, goes silent, fails or is aborted.
import {
  type ClientError,
  errorOfResponse,
  isRefusal,
  retryAfterOf,
  unreachable,
} from "./client-error.ts";
import { createEventParser, type EventStreamReader } from "./server-sent-events.ts";
import { startTimer } from "./timers.ts";
import type { Timing } from "./timing.ts";

export type Fetch = typeof globalThis.fetch;

export type StreamOutcome =
  /** It was open. `sound` if it was open long enough to reset the retry delay. */
  | { readonly kind: "over"; readonly sound: boolean; readonly error: ClientError }
  | { readonly kind: "refused"; readonly error: ClientError }
  /** The server responds, but without a working stream. */
  | { readonly kind: "unavailable"; readonly error: ClientError }
  | {
      readonly kind: "unreachable";
      readonly error: ClientError;
      readonly retryAfter: number | undefined;
    };

export interface EventStreamRequest extends EventStreamReader {
  readonly fetch: Fetch;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timing: Timing;
  readonly signal: AbortSignal;
}

const isEventStream = (response: Response): boolean =>
  /^text\/event-stream\s*(;|$)/i.test(response.headers.get("content-type") ?? "");

const outcomeOf = async (response: Response): Promise<StreamOutcome> => {
  if (response.ok) {
    await response.body?.cancel().catch(() => undefined);
    const message = "the server's response is not an event stream";
    const error = { code: "UNEXPECTED_ANSWER", message, status: response.status } as const;
    return { kind: "unavailable", error };
  }
  const retryAfter = retryAfterOf(response);
  const error = await errorOfResponse(response);
  if (isRefusal(error)) return { kind: "refused", error };
  if (error.code === "UNREACHABLE") return { kind: "unreachable", error, retryAfter };
  return { kind: "unavailable", error };
};

/** Never rejects: an error of the reader ends the connection like any other. */
export const readEventStream = async (request: EventStreamRequest): Promise<StreamOutcome> => {
  const { fetch, url, headers, timing, signal } = request;
  const stop = new AbortController();
  const abort = () => stop.abort();
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  let silent = false;
  let cancelWatch = () => {};
  const watch = (milliseconds: number) => {
    cancelWatch();
    cancelWatch = startTimer(milliseconds, () => {
      silent = true;
      abort();
    });
  };

  let openedAt: number | undefined;
  let received = false;
  try {
    watch(timing.requestTimeout);
    const response = await fetch(url, {
      headers: { accept: "text/event-stream", ...headers },
      redirect: "manual",
      signal: stop.signal,
    });
    if (!response.ok || !isEventStream(response) || response.body === null) {
      return await outcomeOf(response);
    }
    openedAt = performance.now();
    const bytes = response.body.getReader();
    // Not every runtime cancels a body when its request is aborted.
    stop.signal.addEventListener("abort", () => void bytes.cancel().catch(() => undefined));
    const decoder = new TextDecoder();
    const parse = createEventParser(request);
    for (;;) {
      const { done, value } = await bytes.read();
      if (done) break;
      received = true;
      watch(timing.silence);
      try {
        parse(decoder.decode(value, { stream: true }));
      } catch (cause) {
        const message = `the stream cannot be parsed: ${String(cause)}`;
        return {
          kind: "over",
          sound: false,
          error: { code: "UNEXPECTED_ANSWER", message, cause },
        };
      }
    }
    throw new Error(silent ? "no data for too long" : "the stream ended");
  } catch (cause) {
    const error = unreachable(silent ? new Error("no data for too long") : cause);
    if (openedAt === undefined) return { kind: "unreachable", error, retryAfter: undefined };
    // A proxy buffers the stream.
    if (!received && silent) return { kind: "unavailable", error };
    const sound = performance.now() - openedAt >= timing.soundAfter;
    return { kind: "over", sound, error };
  } finally {
    cancelWatch();
    signal.removeEventListener("abort", abort);
    abort();
  }
};
