// The client for programs with a server key: keeps every flag of the environment and evaluates in memory.
import type { EvaluationContext } from "@halyard/core/context";
import { type Evaluation, evaluate } from "@halyard/core/evaluate";
import type { Flag } from "@halyard/core/flags/registry";
import { type Details, failedDetails, notFound, notReady } from "../details.ts";
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
import { type Cache, createFlagCache } from "./flag-cache.ts";
import { createFlagTable, type FlagEntry, type LeveledFlag } from "./flag-table.ts";
import { followFlags } from "./follow-flags.ts";

/** The part of a snapshot that evaluation needs. */
export interface Snapshot {
  readonly flags: readonly { readonly flag: Flag; readonly level?: number }[];
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
  /** The same with the reason. Never throws. */
  details(key: string, context?: EvaluationContext, fallback?: boolean): Details;
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

const flagsIn = (bootstrap: unknown): readonly unknown[] => {
  if (Array.isArray(bootstrap)) return bootstrap;
  const snapshot = parseSnapshot(bootstrap);
  return snapshot === undefined ? [] : flagsOf(snapshot);
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
    const flags = flagsIn(options.bootstrap);
    apply(() => table.replace(flags));
  }
  const cache =
    options.cache &&
    createFlagCache(options.cache, table.flags, (error) => listeners.emit("error", { error }));
  void cache?.load().then((flags) => {
    // The server's flags may have arrived first.
    if (flags !== undefined && !fromServer) apply(() => table.replace(flags));
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
    onSnapshot: (snapshot) => applyFromServer(() => table.replace(flagsOf(snapshot))),
    onChange: ({ key, value, level }) =>
      applyFromServer(() => table.change(key, value && withLevel(value, level))),
    onLive: connection.live,
    onLost: connection.lost,
  });
  const usage =
    options.reportUsage === false
      ? undefined
      : startUsageReport(server, timing, () => entries.values());

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
      if ("errorCode" in result) return fallback;
      if (result.value) entry.on += 1;
      else entry.off += 1;
      return result.value;
    },
    details(key, context, fallback = false) {
      const entry = entries.get(key);
      if (entry === undefined)
        return known ? notFound(fallback, key) : notReady(fallback, connection.error);
      const result = evaluateEntry(entry, context);
      if ("errorCode" in result) {
        return failedDetails(fallback, result.errorCode, result.errorDetails);
      }
      if (result.value) entry.on += 1;
      else entry.off += 1;
      return result;
    },
    async close() {
      if (connection.current === "closed") return;
      connection.close();
      stop.abort();
      await Promise.all([following, usage?.close(), cache?.settled()]);
    },
  };
};
