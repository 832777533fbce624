// The client for programs with a server key: keeps every flag of the environment and evaluates in memory.
import type { EvaluationContext } from "@halyard/core/context";
import {
  type EvaluatedFlag,
  type Evaluation,
  evaluate,
  type FlagValue,
} from "@halyard/core/evaluate";
import type { Flag } from "@halyard/core/flags/registry";
import type { Segment } from "@halyard/core/targeting/segment";
import { type Details, failedDetails, isLike, mismatch, notFound, notReady } from "../details.ts";
import {
  type EnvironmentSnapshot,
  parseSnapshot,
} from "../environment-stream/environment-events.ts";
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
import { standardTiming, type Timing } from "../transport/timing.ts";
import { startUsageReport } from "../transport/usage-report.ts";
import { type Log, warnWith } from "../transport/warn.ts";
import { type Cache, type CachedFlags, createFlagCache } from "./flag-cache.ts";
import { createFlagTable, type FlagEntry, type LeveledFlag } from "./flag-table.ts";
import { followFlags } from "./follow-flags.ts";

/** The part of a snapshot that evaluation needs. */
export interface Snapshot {
  readonly flags: readonly { readonly flag: Flag; readonly level?: number }[];
  readonly segments?: readonly { readonly segment: Segment }[];
}

export interface ClientOptions extends Address {
  /** False to poll only, where streams are blocked. */
  readonly streaming?: boolean;
  /** Flags to use until the server's are loaded: what `flags()` or `GET /api/v1/snapshot` returns. */
  readonly bootstrap?: readonly Flag[] | Snapshot;
  /** Stores the last known flags; they take precedence over `bootstrap`. Use one for each environment. */
  readonly cache?: Cache;
  /** False to send no usage counts. */
  readonly reportUsage?: boolean;
  readonly timing?: Partial<Timing>;
  /** Where a problem is reported, once until it is over: `console.warn` by default, `false` for nowhere. */
  readonly log?: Log;
}

export interface Evaluator {
  /** The value for this context, or the fallback (default false) when it cannot be evaluated. Never throws. */
  isEnabled(key: string, context?: EvaluationContext, fallback?: boolean): boolean;
  /** The value of a flag whose variants are texts, or the fallback. Never throws. */
  stringValue(key: string, context: EvaluationContext, fallback: string): string;
  /** The value of a flag whose variants are numbers, or the fallback. Never throws. */
  numberValue(key: string, context: EvaluationContext, fallback: number): number;
  /** The value of a flag whose variants are objects, or the fallback. Never throws. Do not change it. */
  objectValue<Value extends object>(
    key: string,
    context: EvaluationContext,
    fallback: Value,
  ): Value;
  /** The value with its variant and reason; its type is the fallback's, boolean without one. Never throws. */
  details<Value extends FlagValue = boolean>(
    key: string,
    context?: EvaluationContext,
    fallback?: Value,
  ): Details<Value>;
  /** Every flag, sorted by key; with its `level` when it needs more than the first. */
  flags(): readonly Flag[];
}

export interface Client extends Evaluator {
  readonly state: ClientState;
  /** The last error; undefined while the values are the server's. */
  readonly error: ClientError | undefined;
  /** Waits for the server's flags: `ok`, or why not, after the timeout, when the key is rejected or the client is closed. */
  ready(options?: ReadyOptions): Promise<Ready>;
  /** Returns the function that removes the listener. Errors of listeners are ignored. */
  on: Listeners<ClientEvents>["on"];
  /** Reports usage a last time and closes the connection. The last values still apply. */
  close(): Promise<void>;
}

type ObjectValue = Readonly<Record<string, unknown>>;

const noContext: EvaluationContext = Object.freeze({});

/** At run time a context may be anything. One that throws when it is read counts as empty. */
const evaluateEntry = (entry: FlagEntry, context: EvaluationContext | undefined): Evaluation => {
  try {
    return evaluate(entry.prepared, context ?? noContext);
  } catch {
    return evaluate(entry.prepared, noContext);
  }
};

const withLevel = (flag: Flag, level: number | undefined): LeveledFlag =>
  level === undefined ? flag : { ...flag, level };

const flagsOf = ({ entries }: EnvironmentSnapshot): readonly LeveledFlag[] =>
  entries.flatMap(({ kind, value, level }) => (kind === "flag" ? [withLevel(value, level)] : []));

const segmentsOf = ({ entries }: EnvironmentSnapshot): readonly Segment[] =>
  entries.flatMap(({ kind, value }) => (kind === "segment" ? [value] : []));

const contentOf = (bootstrap: unknown): CachedFlags => {
  if (Array.isArray(bootstrap)) return { flags: bootstrap, segments: [] };
  const snapshot = parseSnapshot(bootstrap);
  return snapshot === undefined
    ? { flags: [], segments: [] }
    : { flags: flagsOf(snapshot), segments: segmentsOf(snapshot) };
};

export const createClient = (options: ClientOptions): Client => {
  const server = serverAt(options);
  const timing: Timing = { ...standardTiming, ...options.timing };
  const listeners = createListeners<ClientEvents>();
  const connection = createConnectionState(listeners, warnWith(options.log, server.base));
  const table = createFlagTable();
  const { entries } = table;
  let known = false;
  let fromServer = false;

  const apply = (change: () => string[]) => {
    const wasKnown = known;
    known = true;
    const keys = change();
    // The first flags are not a change.
    if (keys.length === 0 || !wasKnown) return keys.length > 0;
    listeners.emit("change", { keys });
    return true;
  };

  if (options.bootstrap !== undefined) {
    const { flags, segments } = contentOf(options.bootstrap);
    apply(() => table.replace(flags, segments));
  }
  const cache =
    options.cache &&
    createFlagCache(
      options.cache,
      () => {
        const segments = table.segments();
        return { flags: table.flags(), ...(segments.length > 0 && { segments }) };
      },
      (error) => listeners.emit("error", { error }),
    );
  void cache?.load().then((cached) => {
    // The server's flags may have arrived first.
    if (cached === undefined || fromServer) return;
    apply(() => table.replace(cached.flags, cached.segments));
  });

  const stop = new AbortController();
  const applyFromServer = (change: () => string[]) => {
    const first = !fromServer;
    fromServer = true;
    if (apply(change) || first) cache?.save();
  };
  const following = followFlags({
    server,
    timing,
    streaming: options.streaming ?? true,
    signal: stop.signal,
    onSnapshot: (snapshot) =>
      applyFromServer(() => table.replace(flagsOf(snapshot), segmentsOf(snapshot))),
    onChange: ({ kind, key, value, level }) =>
      applyFromServer(() =>
        kind === "flag"
          ? table.change(key, value && withLevel(value, level))
          : table.changeSegment(key, value),
      ),
    onLive: connection.live,
    onLost: connection.lost,
  });
  const usage =
    options.reportUsage === false
      ? undefined
      : startUsageReport(server, timing, () => entries.values());

  const details = <Value extends FlagValue>(
    key: string,
    context: EvaluationContext | undefined,
    fallback: Value,
  ): Details<Value> => {
    const entry = entries.get(key);
    if (entry === undefined) {
      return known ? notFound(fallback, key) : notReady(fallback, connection.error);
    }
    const result = evaluateEntry(entry, context);
    if ("errorCode" in result) {
      return failedDetails(fallback, result.errorCode, result.errorDetails);
    }
    if (!isLike(result.value, fallback)) return mismatch(fallback, key, result.value);
    entry.count(result);
    return result as EvaluatedFlag & { readonly value: Value };
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
    flags: table.flags,
    isEnabled(key, context, fallback = false) {
      const entry = entries.get(key);
      if (entry === undefined) return fallback;
      const result = evaluateEntry(entry, context);
      if ("errorCode" in result || typeof result.value !== "boolean") return fallback;
      entry.count(result);
      return result.value;
    },
    stringValue: (key, context, fallback) => details(key, context, fallback).value,
    numberValue: (key, context, fallback) => details(key, context, fallback).value,
    objectValue: <Value extends object>(
      key: string,
      context: EvaluationContext,
      fallback: Value,
    ): Value => details(key, context, fallback as ObjectValue).value as Value,
    details: <Value extends FlagValue = boolean>(
      key: string,
      context?: EvaluationContext,
      fallback: Value = false as Value,
    ) => details(key, context, fallback),
    async close() {
      if (connection.current === "closed") return;
      connection.close();
      stop.abort();
      await Promise.all([following, usage?.close(), cache?.settled()]);
    },
  };
};
