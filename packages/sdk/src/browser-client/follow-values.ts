// Keeps the values of one context current: by the stream that the server announces, or by polling.
import type { Server } from "../transport/address.ts";
import type { ClientError } from "../transport/client-error.ts";
import { readEventStream, type StreamOutcome } from "../transport/read-event-stream.ts";
import { pause } from "../transport/timers.ts";
import {
  delayAfter,
  jittered,
  retryDelay,
  roughly,
  streamDelayAfter,
  type Timing,
} from "../transport/timing.ts";
import type { Announced, BulkEvaluation } from "./bulk-evaluation.ts";
import type { AnnouncedStream } from "./context-values.ts";

interface Follow {
  readonly server: Server;
  readonly timing: Timing;
  readonly streaming: boolean;
  readonly evaluation: BulkEvaluation;
  /** From the last bulk evaluation. */
  readonly announcedStream: () => AnnouncedStream | undefined;
  /** The server has sent data, and has announced no change since the last fetch. */
  readonly onConfirmed: () => void;
  /** The stream was open and has ended. */
  readonly onLost: (error: ClientError) => void;
  readonly signal: AbortSignal;
}

export interface ValueFollower {
  /** Whether a stream announces changes. */
  isStreaming(): boolean;
  /** Fetches the values at once and goes on from there. */
  restart(): void;
  /** Closes the connection until `restart`. */
  pause(): void;
  readonly done: Promise<void>;
}

const announcedIn = (data: string): Announced | undefined => {
  try {
    const { type, etag, lastModified } = JSON.parse(data) as Record<string, unknown>;
    if (type !== "refetchEvaluation") return undefined;
    return {
      ...(typeof etag === "string" && { etag }),
      ...((typeof lastModified === "string" || typeof lastModified === "number") && {
        lastModified,
      }),
    };
  } catch {
    return undefined;
  }
};

export const followValues = (follow: Follow): ValueFollower => {
  const { server, timing, evaluation, announcedStream, onConfirmed, onLost, signal } = follow;
  let round = new AbortController();
  let paused = false;
  let lastEventId = "";
  let serverRetry = timing.minimumDelay;
  const firstStream = follow.streaming ? 0 : Number.POSITIVE_INFINITY;
  /** Before this time no stream is tried. */
  let pollUntil = firstStream;

  const endRound = () => round.abort();
  signal.addEventListener("abort", endRound);

  /** Counts the fetches beside the stream: only the newest goes on after an error. */
  let newest = 0;

  /** Nothing announces the same change again, so it is tried until it succeeds, while the stream goes on. */
  const fetchBeside = async (announced?: Announced): Promise<void> => {
    newest += 1;
    const own = newest;
    const ended = round.signal;
    for (let failures = 1; own === newest && !ended.aborted; failures += 1) {
      const error = await evaluation.fetch(announced);
      if (error === undefined) return;
      await pause(retryDelay(error, failures, timing), ended);
    }
  };

  let isStreaming = false;

  const stream = ({ url }: AnnouncedStream): Promise<StreamOutcome> => {
    const open = () => {
      // Changes between the last response and this connection were not announced on it.
      if (!isStreaming) void fetchBeside();
      else if (evaluation.isCurrent()) onConfirmed();
      isStreaming = true;
    };
    return readEventStream({
      fetch: server.fetch,
      url,
      headers: lastEventId === "" ? {} : { "last-event-id": lastEventId },
      timing,
      signal: round.signal,
      onEvent({ data, id }) {
        lastEventId = id;
        const announced = announcedIn(data);
        if (announced === undefined) return open();
        isStreaming = true;
        void fetchBeside(announced);
      },
      onComment: open,
      onRetry(milliseconds) {
        serverRetry = Math.min(milliseconds, timing.maximumDelay);
      },
    });
  };

  const run = async (): Promise<void> => {
    let failures = 0;
    /** Streams in a row that failed, or ended early. */
    let misses = 0;
    while (!signal.aborted) {
      if (round.signal.aborted) round = new AbortController();
      if (paused) {
        await pause(Number.POSITIVE_INFINITY, round.signal);
        continue;
      }
      const error = await evaluation.fetch();
      if (signal.aborted) return;
      if (round.signal.aborted) continue;
      if (error !== undefined) {
        failures += 1;
        // After an outage, streams may work.
        pollUntil = firstStream;
        await pause(retryDelay(error, failures, timing), round.signal);
        continue;
      }
      failures = 0;

      const announced = announcedStream();
      if (announced === undefined || performance.now() < pollUntil) {
        await pause(roughly(timing.pollInterval), round.signal);
        continue;
      }
      const outcome = await stream(announced);
      const wasStreaming = isStreaming;
      isStreaming = false;
      // The next fetch has what they have not.
      newest += 1;
      if (round.signal.aborted) continue;
      if (outcome.kind === "unavailable") {
        misses = 0;
        evaluation.forget();
        pollUntil = performance.now() + timing.streamRetry;
        continue;
      }
      const isSound = outcome.kind === "over" && outcome.sound;
      misses = isSound ? 0 : misses + 1;
      // Its token has expired: a full response contains a new one.
      if (outcome.kind === "refused") evaluation.forget();
      // Otherwise the values were fetched just before, and will be fetched again before the next attempt.
      if (wasStreaming) onLost(outcome.error);
      const delayFor = wasStreaming ? delayAfter : streamDelayAfter;
      await pause(isSound ? jittered(serverRetry) : delayFor(misses, timing), round.signal);
    }
  };

  return {
    isStreaming: () => isStreaming,
    restart() {
      paused = false;
      endRound();
    },
    pause() {
      paused = true;
      endRound();
    },
    done: run().finally(() => signal.removeEventListener("abort", endRound)),
  };
};
