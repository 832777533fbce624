// The client for browsers and others with a client key: the server evaluates for one context, the client keeps the values.
import type { EvaluationContext } from "@halyard/core/context";
import { type Details, failedDetails, notFound, notReady } from "../details.ts";
import { type Address, serverAt } from "../transport/address.ts";
import type { ClientError } from "../transport/client-error.ts";
import {
  type ClientEvents,
  type ClientState,
  createConnectionState,
  type Ready,
  type ReadyOptions,
} from "../transport/connection-state.ts";
import { createListeners, type Listeners } from "../transport/listeners.ts";
import { startTimer } from "../transport/timers.ts";
import { standardTiming, type Timing } from "../transport/timing.ts";
import { startUsageReport } from "../transport/usage-report.ts";
import { type Log, warnWith } from "../transport/warn.ts";
import { createBulkEvaluation } from "./bulk-evaluation.ts";
import type { AnnouncedStream, BulkResponse, ContextValue } from "./context-values.ts";
import { followValues } from "./follow-values.ts";
import { watchVisibility } from "./page-visibility.ts";

export interface ContextClientOptions extends Address {
  /** What the server evaluates the flags for. */
  readonly context?: EvaluationContext;
  /** False to poll only. */
  readonly streaming?: boolean;
  /** Values to use until the server's are loaded, such as those of a server-rendered page. */
  readonly bootstrap?: Readonly<Record<string, boolean>>;
  /** False to send no usage counts. */
  readonly reportUsage?: boolean;
  readonly timing?: Partial<Timing>;
  /** Where a problem is reported, once until it is over: `console.warn` by default, `false` for nowhere. */
  readonly log?: Log;
}

export interface ContextClient {
  readonly state: ClientState;
  /** The last error; undefined while the values are the server's. */
  readonly error: ClientError | undefined;
  /** The value for the current context, or the fallback (default false) when there is none. Never throws. */
  isEnabled(key: string, fallback?: boolean): boolean;
  /** The same with the reason. Never throws. */
  details(key: string, fallback?: boolean): Details;
  /** All values by flag key. */
  values(): Readonly<Record<string, boolean>>;
  /** True once the values are those of this context. Until then, and after false, the previous values apply. */
  setContext(context: EvaluationContext): Promise<boolean>;
  /** Waits for the server's values: `ok`, or why not, after the timeout, when the key is rejected or the client is closed. */
  ready(options?: ReadyOptions): Promise<Ready>;
  /** Returns the function that removes the listener. Errors of listeners are ignored. */
  on: Listeners<ClientEvents>["on"];
  /** Reports usage a last time and closes the connection. The last values still apply. */
  close(): Promise<void>;
}

const isSame = (one: Details, other: Details): boolean =>
  one.value === other.value && one.reason === other.reason && one.errorCode === other.errorCode;

export const createContextClient = (options: ContextClientOptions): ContextClient => {
  const server = serverAt(options);
  const timing: Timing = { ...standardTiming, ...options.timing };
  const listeners = createListeners<ClientEvents>();
  const connection = createConnectionState(listeners, warnWith(options.log, server.base));
  const entries = new Map<string, ContextValue>();
  const stop = new AbortController();
  let context: EvaluationContext = { ...options.context };
  let known = false;
  let announced: AnnouncedStream | undefined;

  const put = (key: string, details: Details): boolean => {
    const entry = entries.get(key);
    if (entry === undefined) entries.set(key, { key, on: 0, off: 0, details });
    else if (isSame(entry.details, details)) return false;
    else entry.details = details;
    return true;
  };
  const apply = ({ values, stream }: BulkResponse) => {
    const removed = [...entries.keys()].filter((key) => !values.has(key));
    for (const key of removed) entries.delete(key);
    const keys = [...values].filter(([key, details]) => put(key, details)).map(([key]) => key);
    announced = stream;
    const wasKnown = known;
    known = true;
    const changed = [...removed, ...keys];
    if (wasKnown && changed.length > 0) listeners.emit("change", { keys: changed });
  };

  for (const [key, value] of Object.entries(options.bootstrap ?? {})) {
    put(key, { value, variant: value ? "on" : "off", reason: "CACHED" });
    known = true;
  }
  const evaluation = createBulkEvaluation({
    server,
    timeout: timing.requestTimeout,
    signal: stop.signal,
    context: () => context,
    onResponse: apply,
  });
  const follower = followValues({
    server,
    timing,
    streaming: options.streaming ?? true,
    evaluation,
    announcedStream: () => announced,
    onLive: connection.live,
    onLost: connection.lost,
    signal: stop.signal,
  });
  const usage =
    options.reportUsage === false
      ? undefined
      : startUsageReport(server, timing, () => entries.values());

  let paused = false;
  let cancelPause = () => {};
  const unwatch = watchVisibility((isVisible) => {
    cancelPause();
    if (isVisible) {
      if (!paused) return;
      paused = false;
      evaluation.forget();
      follower.restart();
      return;
    }
    void usage?.flush(true);
    cancelPause = startTimer(announced?.inactivityDelay ?? timing.pollInterval, () => {
      paused = true;
      follower.pause();
    });
  });

  let latest: Promise<boolean> = Promise.resolve(true);
  const fetchForContext = async (): Promise<boolean> => {
    evaluation.forget();
    const error = await evaluation.fetch();
    if (error === undefined) connection.live();
    else {
      connection.lost(error);
      follower.restart();
    }
    return error === undefined;
  };

  const countedDetails = (key: string): Details | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.details.errorCode !== undefined) return entry.details;
    if (entry.details.value) entry.on += 1;
    else entry.off += 1;
    return entry.details;
  };

  return {
    get state() {
      return connection.current;
    },
    get error() {
      return connection.error;
    },
    ready: connection.ready,
    on: listeners.on,
    values: () =>
      Object.fromEntries(
        [...entries.values()]
          .filter(({ details }) => details.errorCode === undefined)
          .map(({ key, details }) => [key, details.value]),
      ),
    isEnabled(key, fallback = false) {
      const details = countedDetails(key);
      return details === undefined || details.errorCode !== undefined ? fallback : details.value;
    },
    details(key, fallback = false) {
      const details = countedDetails(key);
      if (details === undefined)
        return known ? notFound(fallback, key) : notReady(fallback, connection.error);
      if (details.errorCode === undefined) return details;
      return failedDetails(fallback, details.errorCode, details.errorMessage ?? "");
    },
    async setContext(next) {
      if (connection.current === "closed") return false;
      const mine = { ...next };
      context = mine;
      const attempt = fetchForContext();
      latest = attempt;
      const done = await attempt;
      // A later call replaced this context: its result counts.
      return context === mine ? done : latest;
    },
    async close() {
      if (connection.current === "closed") return;
      connection.close();
      unwatch();
      cancelPause();
      stop.abort();
      await Promise.all([follower.done, usage?.close()]);
    },
  };
};
