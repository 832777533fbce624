// Keeps up with the flags of an environment: by its stream, or by polling where streaming cannot be had.
import type { Server } from "../transport/address.ts";
import {
  type ClientError,
  errorOfAnswer,
  isRefusal,
  unreachable,
} from "../transport/client-error.ts";
import { exchange } from "../transport/exchange.ts";
import { readEventStream, type StreamOutcome } from "../transport/read-event-stream.ts";
import type { ServerSentEvent } from "../transport/server-sent-events.ts";
import { pause } from "../transport/timers.ts";
import { delayAfter, jittered, roughly, type Timing } from "../transport/timing.ts";

export interface Follower {
  onFlags(flags: readonly unknown[]): void;
  onChange(key: string, flag: unknown): void;
  onLive(): void;
  onLost(error: ClientError): void;
}

interface Follow {
  readonly server: Server;
  readonly timing: Timing;
  readonly streaming: boolean;
  readonly signal: AbortSignal;
  readonly follower: Follower;
}

/** So many attempts to stream fail before it is seen whether a poll gets through. */
const attemptsBeforePoll = 2;

const notAList: ClientError = {
  code: "UNEXPECTED_ANSWER",
  message: "the server's answer is not a list of flags",
};

const objectOf = (text: string): Record<string, unknown> => {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null) throw new Error("an event without an object");
  return value as Record<string, unknown>;
};

export const followFlags = async (follow: Follow): Promise<void> => {
  const { server, timing, signal, follower } = follow;
  const { base, authorization, fetch } = server;
  let lastEventId = "";
  let pollTag: string | undefined;
  let serverRetry = timing.minimumDelay;

  const takeEvent = ({ name, data, id }: ServerSentEvent) => {
    if (name === "snapshot") {
      const { flags } = objectOf(data);
      if (!Array.isArray(flags)) throw new Error("a snapshot without flags");
      follower.onFlags(flags.map((entry: { flag?: unknown } | null) => entry?.flag));
    } else if (name === "change") {
      const { key, flag } = objectOf(data);
      if (typeof key !== "string") throw new Error("a change without a key");
      follower.onChange(key, flag);
    } else return;
    lastEventId = id;
    pollTag = undefined;
    follower.onLive();
  };

  const stream = (): Promise<StreamOutcome> => {
    const resumed = lastEventId !== "";
    return readEventStream({
      fetch,
      url: `${base}/api/v1/stream`,
      headers: { ...authorization, ...(resumed && { "last-event-id": lastEventId }) },
      timing,
      signal,
      onEvent(event) {
        try {
          takeEvent(event);
        } catch (cause) {
          // What is known may have a gap now: the next connection begins with everything.
          lastEventId = "";
          throw cause;
        }
      },
      // After a resumption, the sign that nothing was missed.
      onComment: () => resumed && follower.onLive(),
      onRetry(milliseconds) {
        serverRetry = Math.min(milliseconds, timing.maximumDelay);
      },
    });
  };

  const poll = async (): Promise<ClientError | undefined> => {
    try {
      return await exchange({
        fetch,
        url: `${base}/api/v1/flags`,
        init: {
          headers: { ...authorization, ...(pollTag !== undefined && { "if-none-match": pollTag }) },
        },
        timeout: timing.requestTimeout,
        signal,
        read: async (answer) => {
          if (answer.status !== 304) {
            if (!answer.ok) return errorOfAnswer(answer);
            const flags: unknown = await answer.json().catch(() => undefined);
            if (!Array.isArray(flags)) return notAList;
            follower.onFlags(flags);
            pollTag = answer.headers.get("etag") ?? undefined;
            lastEventId = "";
          }
          follower.onLive();
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
      if (error === undefined) failures = 0;
      else {
        failures += 1;
        follower.onLost(error);
      }
      if (error === undefined) await pause(roughly(timing.pollInterval), signal);
      else if (isRefusal(error)) await pause(roughly(timing.refusedDelay), signal);
      else await pause(delayAfter(failures, timing), signal);
      if (performance.now() >= end) return;
    }
  };

  let failures = 0;
  // A poll that worked is not made undone by a stream that still cannot be had.
  let polled = false;
  const goOnPolling = async () => {
    failures = 0;
    polled = true;
    await pollFor(timing.streamRetry);
  };
  while (!signal.aborted) {
    if (!follow.streaming) return pollFor(Number.POSITIVE_INFINITY);
    const outcome = await stream();
    if (signal.aborted) return;
    if (!polled || outcome.kind === "over" || outcome.kind === "refused")
      follower.onLost(outcome.error);
    switch (outcome.kind) {
      case "over":
        polled = false;
        failures = outcome.sound ? 0 : failures + 1;
        await pause(outcome.sound ? jittered(serverRetry) : delayAfter(failures, timing), signal);
        break;
      case "refused":
        failures = 0;
        await pause(roughly(timing.refusedDelay), signal);
        break;
      case "unavailable":
        await goOnPolling();
        break;
      case "unreachable":
        failures += 1;
        // Some proxies break streams and let everything else through.
        if (polled || (failures >= attemptsBeforePoll && (await poll()) === undefined)) {
          await goOnPolling();
        } else {
          const asked = Math.min(outcome.retryAfter ?? 0, timing.maximumDelay);
          await pause(Math.max(asked, delayAfter(failures, timing)), signal);
        }
        break;
    }
  }
};
