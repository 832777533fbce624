// The client for browsers and other places with a client key: the server evaluates every flag for one context, and the
// answers are kept in memory.
import type { EvaluationContext } from "@halyard/core/context";
import { type Details, failedDetails, notFound, notReady } from "../details.ts";
import { type Address, serverAt } from "../transport/address.ts";
import {
  type ClientEvents,
  type ClientState,
  createConnectionState,
  type ReadyOptions,
} from "../transport/connection-state.ts";
import { createListeners, type Listeners } from "../transport/listeners.ts";
import { startTimer } from "../transport/timers.ts";
import { standardTiming, type Timing } from "../transport/timing.ts";
import { startUsageReport } from "../transport/usage-report.ts";
import { createBulkEvaluation } from "./bulk-evaluation.ts";
import type { AnnouncedStream, BulkAnswer, ContextValue } from "./context-values.ts";
import { followValues } from "./follow-values.ts";
import { watchVisibility } from "./page-visibility.ts";

export interface ContextClientOptions extends Address {
  /** Who the values are for. */
  readonly context?: EvaluationContext;
  /** False to poll only. */
  readonly streaming?: boolean;
  /** Values to answer with until the server's are known, such as a page was rendered with. */
  readonly bootstrap?: Readonly<Record<string, boolean>>;
  /** False to keep the counts of evaluations to itself. */
  readonly reportUsage?: boolean;
  readonly timing?: Partial<Timing>;
}

export interface ContextClient {
  readonly state: ClientState;
  /** The value for the current context; the fallback, false unless given, when there is none. Never throws. */
  isEnabled(key: string, fallback?: boolean): boolean;
  /** The same with its reason. Never throws. */
  details(key: string, fallback?: boolean): Details;
  /** Every value that is known. */
  values(): Readonly<Record<string, boolean>>;
  /** True once the values are those of this context; until then, and when it is false, those of the one before hold. */
  setContext(context: EvaluationContext): Promise<boolean>;
  /** True when the server's values are known; false when the time is over, the key is refused or the client is closed. */
  ready(options?: ReadyOptions): Promise<boolean>;
  /** Gives back the function that ends it. A listener that throws harms nobody. */
  on: Listeners<ClientEvents>["on"];
  /** Ends the connection after a last report of usage. The values stay as they are. */
  close(): Promise<void>;
}

const isSame = (one: Details, other: Details): boolean =>
  one.value === other.value && one.reason === other.reason && one.errorCode === other.errorCode;

export const createContextClient = (options: ContextClientOptions): ContextClient => {
  const server = serverAt(options);
  const timing: Timing = { ...standardTiming, ...options.timing };
  const listeners = createListeners<ClientEvents>();
  const connection = createConnectionState(listeners);
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
  const take = ({ values, stream }: BulkAnswer) => {
    const removed = [...entries.keys()].filter((key) => !values.has(key));
    for (const key of removed) entries.delete(key);
    const keys = [...values].filter(([key, details]) => put(key, details)).map(([key]) => key);
    announced = stream;
    const wasKnown = known;
    known = true;
    const changed = [...removed, ...keys];
    if (wasKnown && changed.length > 0) listeners.tell("change", { keys: changed });
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
    onAnswer: take,
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

  let resting = false;
  let cancelRest = () => {};
  const unwatch = watchVisibility((isVisible) => {
    cancelRest();
    if (isVisible) {
      if (!resting) return;
      resting = false;
      evaluation.forget();
      follower.restart();
      return;
    }
    void usage?.flush(true);
    cancelRest = startTimer(announced?.inactivityDelay ?? timing.pollInterval, () => {
      resting = true;
      follower.rest();
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
      if (details === undefined) return known ? notFound(fallback, key) : notReady(fallback);
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
      // Overtaken by a later one: its outcome is the one that counts.
      return context === mine ? done : latest;
    },
    async close() {
      if (connection.current === "closed") return;
      connection.close();
      unwatch();
      cancelRest();
      stop.abort();
      await Promise.all([follower.done, usage?.close()]);
    },
  };
};
