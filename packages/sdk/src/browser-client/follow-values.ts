// Keeps the values of one context current: by the stream that the server announces, or by polling.
import type { Server } from "../transport/address.ts";
import { type ClientError, isRefusal } from "../transport/client-error.ts";
import { readEventStream, type StreamOutcome } from "../transport/read-event-stream.ts";
import { pause } from "../transport/timers.ts";
import { delayAfter, jittered, roughly, type Timing } from "../transport/timing.ts";
import type { Announced, BulkEvaluation } from "./bulk-evaluation.ts";
import type { AnnouncedStream } from "./context-values.ts";

interface Follow {
  readonly server: Server;
  readonly timing: Timing;
  readonly streaming: boolean;
  readonly evaluation: BulkEvaluation;
  /** From the last bulk evaluation. */
  readonly announcedStream: () => AnnouncedStream | undefined;
  readonly onLive: () => void;
  readonly onLost: (error: ClientError) => void;
  readonly signal: AbortSignal;
}

export interface ValueFollower {
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
  const { server, timing, evaluation, announcedStream, onLive, onLost, signal } = follow;
  let round = new AbortController();
  let paused = false;
  let lastEventId = "";
  let serverRetry = timing.minimumDelay;
  /** Before this time no stream is tried. */
  let pollUntil = follow.streaming ? 0 : Number.POSITIVE_INFINITY;

  const endRound = () => round.abort();
  signal.addEventListener("abort", endRound);

  const fetchValues = async (announced?: Announced): Promise<ClientError | undefined> => {
    const error = await evaluation.fetch(announced);
    if (signal.aborted) return error;
    if (error === undefined) onLive();
    else onLost(error);
    return error;
  };

  const delayOf = (error: ClientError, failures: number): number =>
    isRefusal(error) ? roughly(timing.refusedDelay) : delayAfter(failures, timing);

  /** Counts the fetches beside the stream: only the newest goes on after an error. */
  let newest = 0;

  /** Nothing announces the same change again, so it is tried until it succeeds, while the stream goes on. */
  const fetchBeside = async (announced?: Announced): Promise<void> => {
    newest += 1;
    const own = newest;
    const ended = round.signal;
    for (let failures = 1; own === newest && !ended.aborted; failures += 1) {
      const error = await fetchValues(announced);
      if (error === undefined) return;
      await pause(delayOf(error, failures), ended);
    }
  };

  const stream = ({ url }: AnnouncedStream): Promise<StreamOutcome> => {
    let opened = false;
    // Changes between the last response and this connection were not announced on it.
    const open = () => {
      if (!opened) void fetchBeside();
      opened = true;
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
        opened = true;
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
    let refusals = 0;
    let misses = 0;
    let drops = 0;
    while (!signal.aborted) {
      if (round.signal.aborted) round = new AbortController();
      if (paused) {
        await pause(Number.POSITIVE_INFINITY, round.signal);
        continue;
      }
      const error = await fetchValues();
      if (signal.aborted) return;
      if (round.signal.aborted) continue;
      if (error !== undefined) {
        failures += 1;
        await pause(delayOf(error, failures), round.signal);
        continue;
      }
      failures = 0;

      const announced = announcedStream();
      if (announced === undefined || performance.now() < pollUntil) {
        await pause(roughly(timing.pollInterval), round.signal);
        continue;
      }
      const outcome = await stream(announced);
      // The next fetch has what they have not.
      newest += 1;
      if (round.signal.aborted) continue;
      if (outcome.kind === "over") {
        refusals = 0;
        misses = 0;
        onLost(outcome.error);
        drops = outcome.sound ? 0 : drops + 1;
        const delay = outcome.sound ? jittered(serverRetry) : delayAfter(drops, timing);
        await pause(delay, round.signal);
      } else if (outcome.kind === "refused" && refusals === 0) {
        // Its token has expired: a full response contains a new one.
        refusals += 1;
        evaluation.forget();
      } else if (outcome.kind === "unreachable" && misses === 0) {
        misses += 1;
        await pause(delayAfter(misses, timing), round.signal);
      } else {
        refusals = 0;
        misses = 0;
        evaluation.forget();
        pollUntil = performance.now() + timing.streamRetry;
      }
    }
  };

  return {
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
