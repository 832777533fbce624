// One connection to an event stream, until it ends, goes silent, fails or is aborted.
import {
  type ClientError,
  errorOfResponse,
  isRefusal,
  unexpectedResponse,
  unreachable,
} from "./client-error.ts";
import { type Deadline, exchange, type Fetch } from "./exchange.ts";
import { createEventParser, type EventStreamReader } from "./server-sent-events.ts";
import type { Timing } from "./timing.ts";

/** A stream that was open for this long resets the retry delay. */
const soundAfter = 10_000;

export interface StreamOutcome {
  readonly kind: /** The stream was open and has ended. */
    | "over"
    /** The key or the token is rejected. */
    | "refused"
    /** The server responds, but without a working stream. */
    | "unavailable"
    | "unreachable";
  /** The stream was open long enough to reset the retry delay. */
  readonly sound?: boolean;
  readonly error: ClientError;
}

export interface EventStreamRequest extends EventStreamReader {
  readonly fetch: Fetch;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timing: Timing;
  readonly signal: AbortSignal;
}

const isEventStream = ({ ok, headers }: Response): boolean =>
  ok && /^text\/event-stream\b/i.test(`${headers.get("content-type")}`);

const outcomeOf = async (response: Response): Promise<StreamOutcome> => {
  const error = response.ok
    ? unexpectedResponse("an event stream", response.status)
    : await errorOfResponse(response);
  // A body that is left unread may never end.
  await response.body?.cancel().catch(() => undefined);
  if (isRefusal(error)) return { kind: "refused", error };
  return { kind: error.code === "UNREACHABLE" ? "unreachable" : "unavailable", error };
};

/** Never rejects: an error of the reader ends the connection like any other. */
export const readEventStream = async (request: EventStreamRequest): Promise<StreamOutcome> => {
  const { fetch, url, headers, timing, signal } = request;
  const parse = createEventParser(request);
  let opened: AbortSignal | undefined;
  let openedAt = 0;
  let received = false;

  const read = async (response: Response, deadline: Deadline): Promise<StreamOutcome> => {
    if (!response.body || !isEventStream(response)) return outcomeOf(response);
    opened = deadline.signal;
    openedAt = performance.now();
    const decoder = new TextDecoder();
    const bytes = response.body.getReader();
    const cancel = () => void bytes.cancel().catch(() => undefined);
    // Not every runtime cancels a body when its request is aborted.
    opened.addEventListener("abort", cancel);
    try {
      for (;;) {
        const { done, value } = await bytes.read();
        opened.throwIfAborted();
        if (done) throw new Error("the stream ended");
        received = true;
        deadline.extend(timing.silence);
        parse(decoder.decode(value, { stream: true }));
      }
    } finally {
      cancel();
    }
  };

  try {
    const init = { headers: { accept: "text/event-stream", ...headers } };
    return await exchange({ fetch, url, init, timeout: timing.requestTimeout, signal, read });
  } catch (cause) {
    const error = unreachable(cause);
    if (!opened) return { kind: "unreachable", error };
    // A proxy buffers the stream.
    if (!received && opened.aborted) return { kind: "unavailable", error };
    return { kind: "over", sound: performance.now() - openedAt >= soundAfter, error };
  }
};
