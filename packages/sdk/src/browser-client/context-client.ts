// The client for browsers and others with a client key: the server evaluates for one context, the client keeps the values.
/// <reference lib="esnext.disposable" preserve="true" />
import { type EvaluationContext, isTargetingKey } from "@halyard/core/context";
import type { FlagValue } from "@halyard/core/evaluate";
import type { Details, FlagMetadata, ReadOnly, Widened } from "../details.ts";
import type {
  AnyFlags,
  FlagKey,
  FlagValues,
  UndeclaredKey,
  ValueOf,
  VariantOf,
} from "../flag-types.ts";
import { createTracking, type TrackDetails, type TrackingOptions } from "../tracking.ts";
import { type Address, serverAt } from "../transport/address.ts";
import { asyncDispose } from "../transport/async-dispose.ts";
import { checkClientOptions, commonKinds, type OptionKinds } from "../transport/check-options.ts";
import type { ClientError } from "../transport/client-error.ts";
import {
  type ClientEvents,
  type ClientState,
  createConnectionState,
  type Ready,
  type ReadyOptions,
  type Transport,
} from "../transport/connection-state.ts";
import { createEvaluationErrors } from "../transport/evaluation-errors.ts";
import { createListeners, type Listeners } from "../transport/listeners.ts";
import { startTimer } from "../transport/timers.ts";
import { standardTiming, type Timing, type TimingOptions } from "../transport/timing.ts";
import { startUsageReport } from "../transport/usage-report.ts";
import { type Log, warnWith } from "../transport/warn.ts";
import { createBulkEvaluation } from "./bulk-evaluation.ts";
import { contextText } from "./context-text.ts";
import type { AnnouncedStream, BulkResponse } from "./context-values.ts";
import { followValues } from "./follow-values.ts";
import { watchVisibility } from "./page-visibility.ts";
import { createValueTable } from "./value-table.ts";

export interface ContextClientOptions<Flags = AnyFlags> extends Address, TrackingOptions {
  /** What the server evaluates the flags for. */
  readonly context?: EvaluationContext;
  /** False to poll only. */
  readonly streaming?: boolean;
  /** Values to use until the server's are loaded, such as those of a server-rendered page. */
  readonly bootstrap?: FlagValues<Flags>;
  /**
   * False to serve fallbacks when `targetingKey` changes, such as after a sign-out, until the new values are loaded. By default
   * the previous values apply until then, with the reason `STALE`.
   */
  readonly keepPreviousValues?: boolean;
  /** False to send no usage counts. */
  readonly reportUsage?: boolean;
  readonly timing?: TimingOptions;
  /** Where a problem is reported, once until it is over: `console.warn` by default, `false` for nowhere. */
  readonly log?: Log;
}

export interface ContextClient<Flags = AnyFlags> {
  readonly state: ClientState;
  /** The last error; undefined while the values are the server's. */
  readonly error: ClientError | undefined;
  /** How changes arrive; undefined unless the state is `live`. */
  readonly transport: Transport | undefined;
  /** Milliseconds since the server sent the values or confirmed them; undefined before it has. */
  readonly valuesAge: number | undefined;
  /** The value for the current context, or the fallback (default false) when there is none. Never throws. */
  isEnabled(key: FlagKey<Flags, boolean>, fallback?: boolean): boolean;
  /** The value of a flag whose variants are strings, or the fallback. Never throws. */
  stringValue<Key extends FlagKey<Flags, string>>(
    key: Key,
    fallback: ValueOf<Flags, Key, string>,
  ): ValueOf<Flags, Key, string>;
  /** The value of a flag whose variants are numbers, or the fallback. Never throws. */
  numberValue<Key extends FlagKey<Flags, number>>(
    key: Key,
    fallback: ValueOf<Flags, Key, number>,
  ): ValueOf<Flags, Key, number>;
  /** The value of a flag whose variants are objects, or the fallback. Never throws. The flag's value is frozen. */
  objectValue<Value extends object>(key: UndeclaredKey<Flags>, fallback: Value): ReadOnly<Value>;
  objectValue<Key extends FlagKey<Flags, object>>(
    key: Key,
    fallback: ValueOf<Flags, Key, object>,
  ): ReadOnly<ValueOf<Flags, Key, object>>;
  /** The value with its variant and reason; its type is the fallback's, boolean without one. Never throws. */
  details<Value extends FlagValue = boolean>(
    key: UndeclaredKey<Flags>,
    fallback?: Value,
  ): Details<Widened<Value>>;
  details<Key extends FlagKey<Flags, boolean>>(
    key: Key,
    fallback?: boolean,
  ): Details<boolean, VariantOf<Flags, Key>>;
  details<Key extends FlagKey<Flags>>(
    key: Key,
    fallback: ValueOf<Flags, Key>,
  ): Details<ValueOf<Flags, Key>, VariantOf<Flags, Key>>;
  /** The version of the flag and its environment, for telemetry; undefined unless the server tells them (HALYARD_OFREP_METADATA). */
  flagMetadata(key: FlagKey<Flags>): FlagMetadata | undefined;
  /** All values by flag key. */
  values(): FlagValues<Flags>;
  /** Passes an event, such as a purchase, to `onTrack`, with the evaluations for the targeting key of the current context. */
  track(name: string, details?: TrackDetails): void;
  /** True once the values are those of this context. Until then, and after false, the previous values apply as `STALE`. */
  setContext(context: EvaluationContext): Promise<boolean>;
  /** Waits for the server's values: `ok`, or why not, after the timeout, when the key is rejected or the client is closed. */
  ready(options?: ReadyOptions): Promise<Ready>;
  /** Returns the function that removes the listener. Errors of listeners are logged. */
  on: Listeners<ClientEvents>["on"];
  /** Reports usage a last time and closes the connection. The last values still apply. */
  close(): Promise<void>;
  /** Closes the client at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
}

const optionKinds: OptionKinds<ContextClientOptions> = {
  ...commonKinds,
  context: "object",
  bootstrap: "object",
  keepPreviousValues: "boolean",
};

type ObjectValue = Readonly<Record<string, unknown>>;

interface CreateContextClient {
  /** The keys and values that `Flags` declares, such as the interface that `halyard types` writes, are checked by the compiler. */
  <Flags = AnyFlags>(options: ContextClientOptions<NoInfer<Flags>>): ContextClient<Flags>;
  // `ReturnType<typeof createContextClient>` is that of the last one.
  (options: ContextClientOptions): ContextClient;
}

export const createContextClient: CreateContextClient = (
  options: ContextClientOptions,
): ContextClient => {
  checkClientOptions(options, optionKinds);
  const server = serverAt(options);
  const timing: Timing = { ...standardTiming, ...options.timing };
  const warn = warnWith(options.log, server.base);
  const listeners = createListeners<ClientEvents>(warn.listenerFailed);
  const connection = createConnectionState(listeners, warn.problem, timing);
  const errors = createEvaluationErrors(warn.evaluationFailed);
  const table = createValueTable();
  table.bootstrap(options.bootstrap ?? {});
  if (Object.keys(table.values()).length > 0) connection.known();
  const stop = new AbortController();
  let context: EvaluationContext = { ...options.context };
  let text = contextText(context);
  let isLoaded = false;
  let announced: AnnouncedStream | undefined;
  let metadata: BulkResponse["metadata"] = new Map();

  const emitChange = (keys: readonly string[]) => {
    if (keys.length > 0) listeners.emit("change", { keys });
  };
  const evaluation = createBulkEvaluation({
    server,
    timeout: timing.requestTimeout,
    signal: stop.signal,
    context,
    onResponse(response) {
      ({ metadata, stream: announced } = response);
      isLoaded = true;
      errors.start();
      emitChange(table.replace(response.values));
    },
    onSettled(error) {
      if (error !== undefined) connection.lost(error);
      else if (!isPaused) connection.live(follower.isStreaming() ? "stream" : "poll");
    },
  });
  const follower = followValues({
    server,
    timing,
    streaming: options.streaming ?? true,
    evaluation,
    announcedStream: () => announced,
    onConfirmed: () => connection.live("stream"),
    onLost: connection.lost,
    signal: stop.signal,
  });
  const usage =
    options.reportUsage === false ? undefined : startUsageReport(server, timing, table.entries);
  const errorReport = usage && startUsageReport(server, timing, errors.counters);

  let isPaused = false;
  let cancelPause = () => {};
  const unwatch = watchVisibility((isVisible) => {
    cancelPause();
    if (isVisible) {
      if (!isPaused) return;
      isPaused = false;
      evaluation.forget();
      follower.restart();
      return;
    }
    void usage?.flush(true);
    void errorReport?.flush(true);
    cancelPause = startTimer(announced?.inactivityDelay ?? timing.pollInterval, () => {
      isPaused = true;
      follower.pause();
      connection.paused({ code: "PAUSED", message: "the page is hidden" });
    });
  });

  /** False if the context is the same as before. */
  const replaceContext = (next: EvaluationContext): boolean => {
    const nextText = contextText(next);
    if (nextText !== undefined && nextText === text) return false;
    const isWithheld =
      options.keepPreviousValues === false && next.targetingKey !== context.targetingKey;
    context = { ...next };
    text = nextText;
    isLoaded = false;
    emitChange(table.outdate(isWithheld));
    return true;
  };

  const close = async (): Promise<void> => {
    if (connection.current === "closed") return;
    connection.close();
    unwatch();
    cancelPause();
    stop.abort();
    await Promise.all([follower.done, usage?.close(), errorReport?.close()]);
  };

  const tracking = createTracking(options, warn.listenerFailed);
  /** A page without one has one user all the same. */
  const targetingKey = () => (isTargetingKey(context.targetingKey) ? context.targetingKey : "");

  const details = <Value extends FlagValue>(key: string, fallback: Value): Details<Value> => {
    const result = table.details(key, fallback, connection.error);
    errors.observe(key, result);
    tracking?.remember(targetingKey(), key, result, metadata.get(key));
    return result;
  };

  return {
    get state() {
      return connection.current;
    },
    get error() {
      return connection.error;
    },
    get transport() {
      return connection.transport;
    },
    get valuesAge() {
      return connection.valuesAge;
    },
    ready: connection.ready,
    on: listeners.on,
    flagMetadata: (key) => metadata.get(key),
    values: table.values,
    isEnabled: (key, fallback = false) => details(key, fallback).value,
    stringValue: (key, fallback) => details(key, fallback).value,
    numberValue: (key, fallback) => details(key, fallback).value,
    objectValue: <Value extends object>(key: string, fallback: Value) =>
      details(key, fallback as ObjectValue).value as ReadOnly<Value>,
    details: <Value extends FlagValue = boolean>(key: string, fallback: Value = false as Value) =>
      details(key, fallback as unknown as Widened<Value>),
    track(name, trackDetails = {}) {
      tracking?.track(targetingKey(), { name, context, details: trackDetails });
    },
    async setContext(next) {
      if (connection.current === "closed") return false;
      const isNew = replaceContext(next);
      if (!isNew && isLoaded) return true;
      // When a later call replaces this context, its result counts.
      const error = await (isNew ? evaluation.setContext(context) : evaluation.join());
      if (error !== undefined && !isPaused) follower.restart();
      return error === undefined;
    },
    close,
    [asyncDispose]: close,
  };
};
