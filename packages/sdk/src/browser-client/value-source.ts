// Fetches the values of one context, and keeps them current by the stream that the server announces, or by polling.
import type { EvaluationContext } from "@halyard/core/context";
import type { Server } from "../transport/address.ts";
import {
  type ClientError,
  errorOfResponse,
  unexpectedResponse,
  unreachable,
} from "../transport/client-error.ts";
import type { ConnectionState } from "../transport/connection-state.ts";
import { exchange } from "../transport/exchange.ts";
import { readEventStream } from "../transport/read-event-stream.ts";
import { pause } from "../transport/timers.ts";
import {
  delayAfter,
  retryDelay,
  roughly,
  streamDelayAfter,
  type Timing,
} from "../transport/timing.ts";
import { type BulkResponse, parseBulkResponse } from "./context-values.ts";

interface ValueSourceOptions {
  readonly server: Server;
  readonly timing: Timing;
  readonly streaming: boolean;
  readonly context: EvaluationContext;
  readonly connection: Pick<ConnectionState, "live" | "lost">;
  readonly onValues: (response: BulkResponse) => void;
}

export interface ValueSource {
  /**
   * Fetches the values of another context, and aborts a running request. Without a context, waits for the running request, or makes
   * one. Resolves to whether the request succeeded; if another context replaces this one, its request counts.
   */
  load(another?: EvaluationContext): Promise<boolean>;
  /** Closes the stream and stops polling. */
  pause(): void;
  /** Fetches all values and follows them again, after `pause`. */
  resume(): void;
  close(): Promise<void>;
}

/** The query that makes a response include the change an event announces; undefined for other events. */
const queryIn = (data: string): string | undefined => {
  try {
    const { type, etag, lastModified } = JSON.parse(data) as Record<string, string>;
    const query = new URLSearchParams({
      ...(etag && { flagConfigEtag: etag }),
      ...(lastModified && { flagConfigLastModified: lastModified }),
    });
    return type === "refetchEvaluation" ? `?${query}` : undefined;
  } catch {
    return undefined;
  }
};

export const createValueSource = (options: ValueSourceOptions): ValueSource => {
  const { server, timing, connection } = options;
  const { base, authorization, fetch } = server;
  let { context } = options;
  let tag: string | undefined;
  let streamUrl: string | undefined;
  /** Before this time no stream is tried. */
  let pollUntil = 0;
  /** Whether a stream announces changes. */
  let isStreaming = false;
  /** Aborts when the values are no longer followed. */
  let round = new AbortController();

  let running: Promise<void> | undefined;
  /** Aborts the running request when another context replaces this one. */
  let request = new AbortController();
  /** Of the running request: names the newest announced change. */
  let query = "";
  /** Of the next request; undefined if none is needed. */
  let next: string | undefined;
  /** Each waits for the next result. */
  const waiting: ((isLoaded: boolean) => void)[] = [];
  const settle = (isLoaded: boolean) => {
    for (const each of waiting.splice(0)) each(isLoaded);
  };

  const read = async (response: Response): Promise<ClientError | undefined> => {
    const { status, ok, headers } = response;
    if (status === 304) return undefined;
    if (!ok) return errorOfResponse(response);
    const parsed = parseBulkResponse(await response.json().catch(() => undefined), base);
    if (!parsed) return unexpectedResponse("a bulk evaluation", status);
    if (request.signal.aborted) return undefined;
    tag = headers.get("etag") ?? undefined;
    streamUrl = parsed.stream?.url;
    options.onValues(parsed);
    return undefined;
  };

  /** Rejects if the context cannot be JSON. */
  const send = async (): Promise<ClientError | undefined> => {
    return exchange({
      fetch,
      url: `${base}/ofrep/v1/evaluate/flags${query}`,
      init: {
        method: "POST",
        headers: {
          ...authorization,
          "content-type": "application/json",
          ...(tag && { "if-none-match": tag }),
        },
        body: JSON.stringify({ context }),
      },
      timeout: timing.requestTimeout,
      signal: request.signal,
      read,
    });
  };

  /** Makes one request after the other, until nothing is needed. */
  const run = async (): Promise<void> => {
    let failures = 0;
    while (next !== undefined) {
      query = next;
      next = undefined;
      request = new AbortController();
      const { signal } = request;
      const error = await send().catch(unreachable);
      if (signal.aborted) continue;
      settle(!error);
      if (!error) {
        failures = 0;
        if (!round.signal.aborted) connection.live(isStreaming ? "stream" : "poll");
        continue;
      }
      connection.lost(error);
      if (round.signal.aborted) break;
      failures += 1;
      // After an outage, streams may work.
      pollUntil = 0;
      // No event announces the same change again.
      next ??= query;
      await pause(retryDelay(error, failures, timing), signal);
    }
    running = undefined;
    settle(false);
  };

  /** Makes a request that begins after this call, and repeats it until it succeeds. */
  const fetchValues = (announced = next ?? ""): Promise<void> => {
    next = announced;
    running ??= run();
    return running;
  };

  const onData = (announced?: string): void => {
    // Changes between the last response and the first data were not announced on this connection.
    const isOutdated = announced !== undefined || !isStreaming;
    isStreaming = true;
    if (isOutdated) void fetchValues(announced);
    else if (!running) connection.live("stream");
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    /** Streams in a row that failed, or ended early. */
    let misses = 0;
    for (;;) {
      await fetchValues();
      if (signal.aborted) return;
      if (!options.streaming || !streamUrl || performance.now() < pollUntil) {
        await pause(roughly(timing.pollInterval), signal);
        continue;
      }
      const { kind, sound, error } = await readEventStream({
        fetch,
        url: streamUrl,
        timing,
        signal,
        onEvent: ({ data }) => onData(queryIn(data)),
        onComment: onData,
      });
      if (signal.aborted) return;
      const wasStreaming = isStreaming;
      isStreaming = false;
      const isUnavailable = kind === "unavailable";
      if (isUnavailable) pollUntil = performance.now() + timing.streamRetry;
      // The token of the URL may have expired: a full response contains a new one.
      if (isUnavailable || kind === "refused") tag = undefined;
      misses = sound || isUnavailable ? 0 : misses + 1;
      // If it was not open, the values were fetched just before, and are fetched again before the next attempt.
      if (wasStreaming) connection.lost(error);
      await pause((wasStreaming ? delayAfter : streamDelayAfter)(misses, timing), signal);
    }
  };
  let following = follow(round.signal);

  const stop = () => {
    next = undefined;
    round.abort();
    request.abort();
    isStreaming = false;
  };

  return {
    load: (another) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (another) {
          context = another;
          tag = undefined;
          request.abort();
        }
        if (another || !running) void fetchValues(next ?? query);
      }),
    pause: stop,
    resume() {
      if (!round.signal.aborted) return;
      tag = undefined;
      round = new AbortController();
      following = follow(round.signal);
    },
    close() {
      stop();
      return following;
    },
  };
};
