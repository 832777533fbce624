// The client for pages and other programs with a client key: the server evaluates for one context, and the client keeps the values.
/// <reference lib="esnext.disposable" preserve="true" />
import type { EvaluationContext } from "@halyard/core/context";
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
import { createConnectionState, type ExposedState } from "../transport/connection-state.ts";
import { createEvaluationErrors } from "../transport/evaluation-errors.ts";
import { startTimer } from "../transport/timers.ts";
import { standardTiming, type Timing, type TimingOptions } from "../transport/timing.ts";
import { createTally, startUsageReport } from "../transport/usage-report.ts";
import { type Log, warnWith } from "../transport/warn.ts";
import { contextText } from "./context-text.ts";
import type { BulkResponse } from "./context-values.ts";
import { watchVisibility } from "./page-visibility.ts";
import { createValueSource } from "./value-source.ts";
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
  /** Receives each problem once until it is over: `console.warn` by default; `false` logs nothing. */
  readonly log?: Log;
}

export interface ContextClient<Flags = AnyFlags> extends ExposedState {
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
  /** The version of the flag and its environment, for telemetry; undefined unless the server has HALYARD_OFREP_METADATA=on. */
  flagMetadata(key: FlagKey<Flags>): FlagMetadata | undefined;
  /** All values by flag key. */
  values(): FlagValues<Flags>;
  /** Passes an event, such as a purchase, to `onTrack`, with the evaluations for the targeting key of the current context. */
  track(name: string, details?: TrackDetails): void;
  /** Resolves to true when the values of this context are loaded. Until then, and after false, the previous values apply as `STALE`. */
  setContext(context: EvaluationContext): Promise<boolean>;
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

interface CreateContextClient {
  /** The keys and values that `Flags` declares, such as the interface that `halyard types` writes, are checked by the compiler. */
  <Flags = AnyFlags>(options: ContextClientOptions<NoInfer<Flags>>): ContextClient<Flags>;
  // `ReturnType<typeof createContextClient>` takes the last signature.
  (options: ContextClientOptions): ContextClient;
}

export const createContextClient: CreateContextClient = (
  options: ContextClientOptions,
): ContextClient => {
  checkClientOptions(options, optionKinds);
  const { streaming = true, reportUsage = true, keepPreviousValues = true } = options;
  const server = serverAt(options);
  const timing: Timing = { ...standardTiming, ...options.timing };
  const warn = warnWith(options.log, server.base);
  const connection = createConnectionState(warn, timing);
  const { exposed } = connection;
  const tally = createTally();
  const observeErrors = createEvaluationErrors(tally, warn.evaluationFailed);
  const tracking = createTracking(options, warn.listenerFailed);
  const table = createValueTable(tally);
  if (table.bootstrap(options.bootstrap ?? {})) connection.known();
  let context: EvaluationContext = { ...options.context };
  let text = contextText(context);
  let isLoaded = false;
  let response: BulkResponse | undefined;

  const source = createValueSource({
    server,
    timing,
    streaming,
    context,
    connection,
    onValues(received) {
      response = received;
      isLoaded = true;
      connection.changed(table.replace(response.values));
    },
  });
  const usage = reportUsage ? startUsageReport(server, timing, tally.take) : undefined;

  let cancelPause = () => {};
  const unwatch = watchVisibility((isVisible) => {
    cancelPause();
    if (isVisible) return source.resume();
    void usage?.flush();
    cancelPause = startTimer(response?.stream?.inactivityDelay ?? timing.pollInterval, () => {
      source.pause();
      connection.lost({ code: "PAUSED", message: "the page is hidden" });
    });
  });

  const close = async (): Promise<void> => {
    if (exposed.state === "closed") return;
    connection.close();
    unwatch();
    cancelPause();
    await Promise.all([source.close(), usage?.close()]);
  };

  /** A page without a targeting key still has one user. */
  const targetingKey = () => context.targetingKey ?? "";

  const flagMetadata = (key: string) => response?.values.get(key)?.metadata;
  const details = (key: string, fallback: FlagValue = false): Details<FlagValue> => {
    const result = table.details(key, fallback, exposed.error);
    // Before the server's values are loaded, a key may only be missing from the bootstrap.
    if (response) observeErrors(key, result);
    tracking?.remember(targetingKey(), key, result, flagMetadata(key));
    return result;
  };
  const valueFor = (key: string, fallback?: FlagValue): FlagValue => details(key, fallback).value;

  return Object.assign(exposed, {
    flagMetadata,
    values: table.values,
    isEnabled: valueFor,
    stringValue: valueFor,
    numberValue: valueFor,
    objectValue: valueFor,
    details,
    track(name: string, trackDetails: TrackDetails = {}) {
      const event = { name, context: { ...context }, details: { ...trackDetails } };
      tracking?.track(targetingKey(), event);
    },
    async setContext(next: EvaluationContext) {
      if (exposed.state === "closed") return false;
      const nextText = contextText(next);
      if (nextText !== undefined && nextText === text) return isLoaded || source.load();
      const isOther = next.targetingKey !== context.targetingKey;
      context = { ...next };
      text = nextText;
      isLoaded = false;
      connection.changed(table.outdate(isOther && !keepPreviousValues));
      return source.load(context);
    },
    close,
    [asyncDispose]: close,
  }) as unknown as ContextClient;
};
