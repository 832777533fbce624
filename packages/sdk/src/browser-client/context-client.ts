// The client for browsers and others with a client key: the server evaluates for one context, the client keeps the values.
import type { EvaluationContext } from "@halyard/core/context";
import type { FlagValue } from "@halyard/core/evaluate";
import { ResultCounter } from "@halyard/core/result-counts";
import {
  type Details,
  type FlagMetadata,
  failedDetails,
  isLike,
  mismatch,
  notFound,
  notReady,
  type Widened,
} from "../details.ts";
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
  readonly bootstrap?: Readonly<Record<string, FlagValue>>;
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
  /** The value of a flag whose variants are texts, or the fallback. Never throws. */
  stringValue(key: string, fallback: string): string;
  /** The value of a flag whose variants are numbers, or the fallback. Never throws. */
  numberValue(key: string, fallback: number): number;
  /** The value of a flag whose variants are objects, or the fallback. Never throws. Do not change it. */
  objectValue<Value extends object>(key: string, fallback: Value): Value;
  /** The value with its variant and reason; its type is the fallback's, boolean without one. Never throws. */
  details<Value extends FlagValue = boolean>(
    key: string,
    fallback?: Value,
  ): Details<Widened<Value>>;
  /** The version of the flag and its environment, for telemetry; undefined unless the server tells them (HALYARD_OFREP_METADATA). */
  flagMetadata(key: string): FlagMetadata | undefined;
  /** All values by flag key. */
  values(): Readonly<Record<string, FlagValue>>;
  /** True once the values are those of this context. Until then, and after false, the previous values apply. */
  setContext(context: EvaluationContext): Promise<boolean>;
  /** Waits for the server's values: `ok`, or why not, after the timeout, when the key is rejected or the client is closed. */
  ready(options?: ReadyOptions): Promise<Ready>;
  /** Returns the function that removes the listener. Errors of listeners are ignored. */
  on: Listeners<ClientEvents>["on"];
  /** Reports usage a last time and closes the connection. The last values still apply. */
  close(): Promise<void>;
}

const isSame = (one: object, other: object): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** A client key is not told which variant is off: what turned the flag off says it. */
const isOff = ({ value, reason }: Details<FlagValue>): boolean =>
  value === false || reason === "DISABLED" || reason === "PREREQUISITE_FAILED";

type ObjectValue = Readonly<Record<string, unknown>>;

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
  let metadata: BulkResponse["metadata"] = new Map();

  const put = (key: string, details: Details<FlagValue>): boolean => {
    const entry = entries.get(key);
    if (entry === undefined) entries.set(key, { key, on: 0, off: 0, details });
    else if (isSame(entry.details, details)) return false;
    else entry.details = details;
    return true;
  };
  const apply = ({ values, stream, metadata: told }: BulkResponse) => {
    metadata = told;
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
    const variant = typeof value === "boolean" && { variant: value ? "on" : "off" };
    put(key, { value, ...variant, reason: "CACHED" });
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

  const details = <Value extends FlagValue>(key: string, fallback: Value): Details<Value> => {
    const entry = entries.get(key);
    if (entry === undefined) {
      return known ? notFound(fallback, key) : notReady(fallback, connection.error);
    }
    const found = entry.details;
    const { value, errorCode, errorMessage = "" } = found;
    if (errorCode !== undefined) return failedDetails(fallback, errorCode, errorMessage);
    if (!isLike(value, fallback)) return mismatch(fallback, key, value);
    if (isOff(found)) entry.off += 1;
    else entry.on += 1;
    // Of flags that are on or off, the server makes this out of the counts.
    if (typeof value !== "boolean" && found.variant !== undefined) {
      entry.results ??= new ResultCounter();
      entry.results.add({ variants: { [found.variant]: 1 } });
    }
    return found as Details<Value>;
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
    flagMetadata: (key) => metadata.get(key),
    values: () =>
      Object.fromEntries(
        [...entries.values()]
          .filter(({ details }) => details.errorCode === undefined)
          .map(({ key, details }) => [key, details.value]),
      ),
    isEnabled: (key, fallback = false) => details(key, fallback).value,
    stringValue: (key, fallback) => details(key, fallback).value,
    numberValue: (key, fallback) => details(key, fallback).value,
    objectValue: <Value extends object>(key: string, fallback: Value): Value =>
      details(key, fallback as ObjectValue).value as Value,
    details: <Value extends FlagValue = boolean>(key: string, fallback: Value = false as Value) =>
      details(key, fallback as unknown as Widened<Value>),
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
