// Follows the stream of an environment: reconnects after every interruption and resumes where it stopped.
import type { ClientError } from "../transport/client-error.ts";
import type { Fetch } from "../transport/exchange.ts";
import { readEventStream, type StreamOutcome } from "../transport/read-event-stream.ts";
import type { ServerSentEvent } from "../transport/server-sent-events.ts";
import { pause, startTimer } from "../transport/timers.ts";
import { jittered, retryDelay, standardTiming, type Timing } from "../transport/timing.ts";
import {
  type EnvironmentChange,
  type EnvironmentSnapshot,
  kindOfEvent,
  parseChange,
  parseSnapshot,
} from "./environment-events.ts";

export type { StreamOutcome } from "../transport/read-event-stream.ts";
export type {
  EnvironmentChange,
  EnvironmentEntry,
  EnvironmentSnapshot,
} from "./environment-events.ts";

/** How to continue: reconnect after a pause, reconnect at once and begin with a snapshot, or stop. */
export type AfterLoss = "retry" | "restart" | "stop";

export interface EnvironmentFollower {
  /** Replaces the state. Comes first, and again when the server cannot resume. */
  onSnapshot(snapshot: EnvironmentSnapshot): void;
  onChange(change: EnvironmentChange): void;
  /** Called when the state is current: the first time, and once after each loss. */
  readonly onLive: () => void;
  /** Called for all data of the stream, heartbeats included, while the state is current. */
  readonly onConfirmed?: (() => void) | undefined;
  /** A connection ended or could not be made; `failures` counts those in a row. */
  onLost(outcome: StreamOutcome, failures: number): AfterLoss | Promise<AfterLoss>;
}

export interface FollowEnvironment extends EnvironmentFollower {
  /** The server's URL, such as `https://flags.example.com`. */
  readonly url: string;
  /** With the API key, unless `fetch` authenticates by itself. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: Fetch;
  readonly timing?: Partial<Timing>;
  readonly signal: AbortSignal;
  /** Called with the id of each event after it has been applied: the name of the revision. */
  readonly onPosition?: ((id: string) => void) | undefined;
  /**
   * Called before each connection, and may delay it. When its signal aborts, the connection closes without counting as
   * lost, and the next one resumes.
   */
  readonly connectionSignal?: () => AbortSignal | Promise<AbortSignal>;
  /** Read the first snapshot by a request of its own, which the server compresses; the stream then begins after it. */
  readonly readsSnapshot?: boolean;
  /** The pause before another attempt; ends early when the signal aborts. The default does not keep a program running. */
  readonly wait?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

/** Rejects if the response has not begun by then. Its body may take longer on a slow connection. */
const inTime = (response: Promise<Response>, milliseconds: number): Promise<Response> =>
  new Promise((resolve, reject) => {
    const cancel = startTimer(milliseconds, () => reject(new Error("no response in time")));
    response.then(resolve, reject).finally(cancel);
  });

const unexpectedData = (name: string): Error => new Error(`unexpected data in the event ${name}`);

/** Ends when the signal aborts, or with the outcome after which `onLost` said "stop". */
export const followEnvironment = async (
  options: FollowEnvironment,
): Promise<StreamOutcome | undefined> => {
  const { url, headers, signal, connectionSignal, wait = pause } = options;
  const fetch: Fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
  const timing: Timing = { ...standardTiming, ...options.timing };
  /** Empty when the next connection must begin with a snapshot. */
  let lastEventId = "";
  let isLive = false;
  let failures = 0;
  let serverRetry = timing.minimumDelay;

  const confirm = () => {
    if (!isLive) {
      isLive = true;
      options.onLive();
    }
    options.onConfirmed?.();
  };

  const takeEvent = ({ name, data, id }: ServerSentEvent) => {
    const kind = kindOfEvent(name);
    if (name === "snapshot") {
      const snapshot = parseSnapshot(JSON.parse(data));
      if (snapshot === undefined) throw unexpectedData(name);
      options.onSnapshot(snapshot);
    } else if (kind !== undefined) {
      const change = parseChange(kind, JSON.parse(data));
      if (change === undefined) throw unexpectedData(name);
      options.onChange(change);
      // After a snapshot, an event of an unknown name still moves the resume position.
    } else if (lastEventId === "" || id === "") return;
    lastEventId = id;
    if (id !== "") options.onPosition?.(id);
    confirm();
  };

  const base = `${url.replace(/\/+$/, "")}/api/v1`;

  /** Ignores failures: the stream then fails too, or begins with the snapshot itself. */
  const readSnapshot = async (connection: AbortSignal): Promise<void> => {
    try {
      const request = fetch(`${base}/snapshot`, { headers: { ...headers }, signal: connection });
      const response = await inTime(request, timing.requestTimeout);
      const name = /"([^"]+)"/.exec(response.headers.get("etag") ?? "")?.[1];
      if (!response.ok || name === undefined) return;
      const snapshot = parseSnapshot(await response.json());
      if (snapshot === undefined) return;
      options.onSnapshot(snapshot);
      lastEventId = name;
    } catch {
      lastEventId = "";
    }
  };

  const connect = async (connection: AbortSignal): Promise<StreamOutcome> => {
    if (options.readsSnapshot === true && lastEventId === "") await readSnapshot(connection);
    let mistake: ClientError | undefined;
    const outcome = await readEventStream({
      fetch,
      url: `${base}/stream`,
      headers: { ...headers, ...(lastEventId !== "" && { "last-event-id": lastEventId }) },
      timing,
      signal: connection,
      onEvent(event) {
        try {
          takeEvent(event);
        } catch (cause) {
          // A change may be missing now: the next connection begins with a snapshot.
          lastEventId = "";
          const message = `the stream cannot be parsed: ${String(cause)}`;
          mistake = { code: "UNEXPECTED_ANSWER", message, cause };
          throw cause;
        }
      },
      // The first comment after a resumption means that no change was missed.
      onComment: () => lastEventId !== "" && confirm(),
      onRetry(milliseconds) {
        serverRetry = Math.min(milliseconds, timing.maximumDelay);
      },
    });
    return mistake ? { kind: "over", error: mistake } : outcome;
  };

  const delayFor = (outcome: StreamOutcome): number => {
    if (outcome.sound) return jittered(serverRetry);
    return retryDelay(outcome.error, failures, timing);
  };

  while (!signal.aborted) {
    const connection = await connectionSignal?.();
    const outcome = await connect(
      connection === undefined ? signal : AbortSignal.any([signal, connection]),
    );
    if (signal.aborted) break;
    if (connection?.aborted === true) continue;
    isLive = false;
    failures = outcome.sound ? 0 : failures + 1;
    const next = await options.onLost(outcome, failures);
    if (next === "stop") return outcome;
    if (next === "restart") {
      lastEventId = "";
      failures = 0;
    } else await wait(delayFor(outcome), signal);
  }
  return undefined;
};
