// Keeps the flags of an environment current: by its stream, or by polling where streams are blocked.
import { parseSnapshot } from "../environment-stream/environment-events.ts";
import {
  type AfterLoss,
  type EnvironmentFollower,
  followEnvironment,
} from "../environment-stream/follow-environment.ts";
import type { Server } from "../transport/address.ts";
import {
  type ClientError,
  errorOfResponse,
  unexpectedResponse,
  unreachable,
} from "../transport/client-error.ts";
import type { Transport } from "../transport/connection-state.ts";
import { exchange } from "../transport/exchange.ts";
import { pause } from "../transport/timers.ts";
import { retryDelay, roughly, streamDelayAfter, type Timing } from "../transport/timing.ts";

export interface FollowFlags extends Omit<EnvironmentFollower, "onLive" | "onLost"> {
  readonly server: Server;
  readonly timing: Timing;
  /** False to poll only. */
  readonly streaming: boolean;
  readonly signal: AbortSignal;
  /** Identifies the client to the server, with its stream and its polls. */
  readonly clientId: string | undefined;
  /** The client has applied the revision of this name. */
  readonly onApplied?: ((revision: string) => void) | undefined;
  /** The stream is open, and its state is current. */
  readonly onStream?: (() => void) | undefined;
  /** The flags are the server's as of now. */
  readonly onLive: (transport: Transport) => void;
  readonly onLost: (error: ClientError) => void;
}

/** After this many failed attempts to stream, a poll shows whether other requests succeed. */
const attemptsBeforePoll = 2;

export const followFlags = async (options: FollowFlags): Promise<void> => {
  const { server, timing, signal, onLive, onLost } = options;
  const { base, fetch } = server;
  const headers = {
    ...server.authorization,
    ...(options.clientId !== undefined && { "x-halyard-client": options.clientId }),
  };
  let pollTag: string | undefined;

  const poll = async (): Promise<ClientError | undefined> => {
    try {
      return await exchange({
        fetch,
        url: `${base}/api/v1/snapshot`,
        init: {
          headers: { ...headers, ...(pollTag !== undefined && { "if-none-match": pollTag }) },
        },
        timeout: timing.requestTimeout,
        signal,
        read: async (response) => {
          if (response.status !== 304) {
            if (!response.ok) return errorOfResponse(response);
            const snapshot = parseSnapshot(await response.json().catch(() => undefined));
            if (snapshot === undefined) return unexpectedResponse("a snapshot", response.status);
            options.onSnapshot(snapshot);
            pollTag = response.headers.get("etag") ?? undefined;
            const revision = /"([^"]+)"/.exec(pollTag ?? "")?.[1];
            if (revision !== undefined) options.onApplied?.(revision);
          }
          onLive("poll");
          return undefined;
        },
      });
    } catch (cause) {
      return unreachable(cause);
    }
  };

  const pollOnly = async (): Promise<void> => {
    let failures = 0;
    while (!signal.aborted) {
      const error = await poll();
      if (signal.aborted) return;
      failures = error === undefined ? 0 : failures + 1;
      if (error !== undefined) onLost(error);
      await pause(
        error === undefined ? roughly(timing.pollInterval) : retryDelay(error, failures, timing),
        signal,
      );
    }
  };

  if (!options.streaming) return pollOnly();

  /** While polling works, a failed attempt to stream is not a loss. */
  let polling = false;
  /** Whether the current stream has made the flags current. */
  let streaming = false;
  /** Streams in a row that failed although a poll succeeded. */
  let misses = 0;

  const pollSucceeds = async (): Promise<boolean> => {
    const error = await poll();
    // The failed stream was reported already, unless polling had worked.
    if (error !== undefined && polling) onLost(error);
    polling = error === undefined;
    return polling;
  };

  /** Keeps the flags current by a poll before each further attempt to stream. */
  const pollBetween = async (): Promise<AfterLoss> => {
    if (!(await pollSucceeds())) return "retry";
    misses += 1;
    await pause(streamDelayAfter(misses, timing), signal);
    return "restart";
  };

  /** Ends early when a poll fails: after an outage, streams may work. */
  const pollInstead = async (): Promise<AfterLoss> => {
    const end = performance.now() + timing.streamRetry;
    do {
      if (!(await pollSucceeds())) return "retry";
      await pause(roughly(timing.pollInterval), signal);
    } while (!signal.aborted && performance.now() < end);
    return "restart";
  };

  await followEnvironment({
    url: base,
    headers,
    fetch,
    timing,
    signal,
    onSnapshot(snapshot) {
      pollTag = undefined;
      options.onSnapshot(snapshot);
    },
    onChange(change) {
      pollTag = undefined;
      options.onChange(change);
    },
    onPosition: options.onApplied,
    onLive() {
      streaming = true;
      polling = false;
      misses = 0;
      options.onStream?.();
    },
    onConfirmed: () => onLive("stream"),
    async onLost({ kind, error }, failures) {
      const wasStreaming = streaming;
      streaming = false;
      if (!polling || kind === "refused") onLost(error);
      if (wasStreaming || kind === "refused") return "retry";
      // A proxy that breaks streams and lets other requests through.
      if (kind === "unavailable") return pollInstead();
      return polling || failures >= attemptsBeforePoll ? pollBetween() : "retry";
    },
  });
};
