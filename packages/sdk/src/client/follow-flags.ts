// Keeps the flags of an environment current: by its stream, or by polling where streams are blocked.
import { parseSnapshot } from "../environment-stream/environment-events.ts";
import {
  type EnvironmentFollower,
  followEnvironment,
} from "../environment-stream/follow-environment.ts";
import type { Server } from "../transport/address.ts";
import {
  type ClientError,
  errorOfResponse,
  isRefusal,
  unreachable,
} from "../transport/client-error.ts";
import { exchange } from "../transport/exchange.ts";
import { pause } from "../transport/timers.ts";
import { delayAfter, roughly, type Timing } from "../transport/timing.ts";

export interface FollowFlags extends Omit<EnvironmentFollower, "onLost"> {
  readonly server: Server;
  readonly timing: Timing;
  /** False to poll only. */
  readonly streaming: boolean;
  readonly signal: AbortSignal;
  /** By which the server knows the client at its stream and its polls. */
  readonly clientId: string | undefined;
  /** The revision of this name has been applied. */
  readonly onApplied?: ((revision: string) => void) | undefined;
  /** The stream is open, and its state is current. */
  readonly onStream?: (() => void) | undefined;
  readonly onLost: (error: ClientError) => void;
}

/** After so many failed attempts to stream, a poll shows whether other requests get through. */
const attemptsBeforePoll = 2;

const notASnapshot: ClientError = {
  code: "UNEXPECTED_ANSWER",
  message: "the server's response is not a snapshot",
};

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
            if (snapshot === undefined) return notASnapshot;
            options.onSnapshot(snapshot);
            pollTag = response.headers.get("etag") ?? undefined;
            const revision = /"([^"]+)"/.exec(pollTag ?? "")?.[1];
            if (revision !== undefined) options.onApplied?.(revision);
          }
          onLive();
          return undefined;
        },
      });
    } catch (cause) {
      return unreachable(cause);
    }
  };

  const pollFor = async (milliseconds: number): Promise<void> => {
    const end = performance.now() + milliseconds;
    let failures = 0;
    while (!signal.aborted) {
      const error = await poll();
      if (signal.aborted) return;
      failures = error === undefined ? 0 : failures + 1;
      if (error !== undefined) onLost(error);
      if (error === undefined) await pause(roughly(timing.pollInterval), signal);
      else if (isRefusal(error)) await pause(roughly(timing.refusedDelay), signal);
      else await pause(delayAfter(failures, timing), signal);
      if (performance.now() >= end) return;
    }
  };

  if (!options.streaming) return pollFor(Number.POSITIVE_INFINITY);

  /** While polling works, a failed attempt to stream is not a loss. */
  let polling = false;
  /** Some proxies break streams and let everything else through. */
  const shouldPoll = async (kind: string, failures: number): Promise<boolean> => {
    if (kind === "unavailable") return true;
    if (kind !== "unreachable") return false;
    return polling || (failures >= attemptsBeforePoll && (await poll()) === undefined);
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
      onLive();
      options.onStream?.();
    },
    async onLost({ kind, error }, failures) {
      if (kind === "over") polling = false;
      if (!polling || kind === "refused") onLost(error);
      if (!(await shouldPoll(kind, failures))) return "retry";
      polling = true;
      await pollFor(timing.streamRetry);
      return "restart";
    },
  });
};
