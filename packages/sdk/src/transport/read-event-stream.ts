// One connection to an event stream, from the request until it ends, falls silent, breaks or is stopped.
import {
  type ClientError,
  errorOfAnswer,
  isRefusal,
  retryAfterOf,
  unreachable,
} from "./client-error.ts";
import { createEventParser, type EventStreamReader } from "./server-sent-events.ts";
import { startTimer } from "./timers.ts";
import type { Timing } from "./timing.ts";

export type Fetch = typeof globalThis.fetch;

export type StreamOutcome =
  /** It was open. `sound` when it had lasted; otherwise the next attempt should not follow too soon. */
  | { readonly kind: "over"; readonly sound: boolean; readonly error: ClientError }
  | { readonly kind: "refused"; readonly error: ClientError }
  /** The server answers, but not with a stream that gets through. */
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

const isEventStream = (answer: Response): boolean =>
  /^text\/event-stream\s*(;|$)/i.test(answer.headers.get("content-type") ?? "");

const outcomeOf = async (answer: Response): Promise<StreamOutcome> => {
  if (answer.ok) {
    await answer.body?.cancel().catch(() => undefined);
    const message = "the server's answer is not an event stream";
    const error = { code: "UNEXPECTED_ANSWER", message, status: answer.status } as const;
    return { kind: "unavailable", error };
  }
  const retryAfter = retryAfterOf(answer);
  const error = await errorOfAnswer(answer);
  if (isRefusal(error)) return { kind: "refused", error };
  if (error.code === "UNREACHABLE") return { kind: "unreachable", error, retryAfter };
  return { kind: "unavailable", error };
};

/** Never rejects: what its reader throws ends the connection like any other fault. */
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
  let heard = false;
  try {
    watch(timing.requestTimeout);
    const answer = await fetch(url, {
      headers: { accept: "text/event-stream", ...headers },
      signal: stop.signal,
    });
    if (!answer.ok || !isEventStream(answer) || answer.body === null) {
      return await outcomeOf(answer);
    }
    openedAt = performance.now();
    const bytes = answer.body.getReader();
    // Not every runtime ends a body that is being read when its request is aborted.
    stop.signal.addEventListener("abort", () => void bytes.cancel().catch(() => undefined));
    const decoder = new TextDecoder();
    const parse = createEventParser(request);
    for (;;) {
      const { done, value } = await bytes.read();
      if (done) break;
      heard = true;
      watch(timing.silence);
      try {
        parse(decoder.decode(value, { stream: true }));
      } catch (cause) {
        const message = `the stream cannot be understood: ${String(cause)}`;
        return {
          kind: "over",
          sound: false,
          error: { code: "UNEXPECTED_ANSWER", message, cause },
        };
      }
    }
    throw new Error(silent ? "nothing was heard for too long" : "the stream ended");
  } catch (cause) {
    const error = unreachable(silent ? new Error("nothing was heard for too long") : cause);
    if (openedAt === undefined) return { kind: "unreachable", error, retryAfter: undefined };
    // Something between here and the server holds the stream back.
    if (!heard && silent) return { kind: "unavailable", error };
    const sound = performance.now() - openedAt >= timing.soundAfter;
    return { kind: "over", sound, error };
  } finally {
    cancelWatch();
    signal.removeEventListener("abort", abort);
    abort();
  }
};
