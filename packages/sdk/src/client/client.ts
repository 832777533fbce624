// The client for programs with a server key: it holds every flag of the environment and answers from memory.
import type { EvaluationContext } from "@halyard/core/context";
import { type Evaluation, evaluate } from "@halyard/core/evaluate";
import type { Flag } from "@halyard/core/flags/registry";
import { type Details, failedDetails, notFound, notReady } from "../details.ts";
import {
  type EnvironmentSnapshot,
  parseSnapshot,
} from "../environment-stream/environment-events.ts";
import { type Address, serverAt } from "../transport/address.ts";
import {
  type ClientEvents,
  type ClientState,
  createConnectionState,
  type ReadyOptions,
} from "../transport/connection-state.ts";
import { createListeners, type Listeners } from "../transport/listeners.ts";
import { standardTiming, type Timing } from "../transport/timing.ts";
import { startUsageReport } from "../transport/usage-report.ts";
import { type Cache, createFlagCache } from "./flag-cache.ts";
import { createFlagTable, type FlagEntry, type LeveledFlag } from "./flag-table.ts";
import { followFlags } from "./follow-flags.ts";

/** The part of a snapshot that evaluation needs. */
export interface Snapshot {
  readonly flags: readonly { readonly flag: Flag; readonly level?: number }[];
}

export interface ClientOptions extends Address {
  /** False to poll only, where streams are known not to get through. */
  readonly streaming?: boolean;
  /** Flags to use until the server's are known: what `flags()` or `GET /api/v1/snapshot` returns. */
  readonly bootstrap?: readonly Flag[] | Snapshot;
  /** Keeps the last known flags; newer than `bootstrap`, older than the server. One for each environment. */
  readonly cache?: Cache;
  /** False to keep the counts of evaluations to itself. */
  readonly reportUsage?: boolean;
  readonly timing?: Partial<Timing>;
}

export interface Evaluator {
  /** Whether the flag is on for this context; the fallback, false unless given, when that cannot be told. Never throws. */
  isEnabled(key: string, context?: EvaluationContext, fallback?: boolean): boolean;
  /** The same with its reason. Never throws. */
  details(key: string, context?: EvaluationContext, fallback?: boolean): Details;
  /** Every flag, sorted by key; with its `level` when it needs more than the first. */
  flags(): readonly Flag[];
}

export interface Client extends Evaluator {
  readonly state: ClientState;
  /** True when the server's flags are known; false when the time is over, the key is refused or the client is closed. */
  ready(options?: ReadyOptions): Promise<boolean>;
  /** Gives back the function that ends it. A listener that throws harms nobody. */
  on: Listeners<ClientEvents>["on"];
  /** Ends the connection after a last report of usage. The values stay as they are. */
  close(): Promise<void>;
}

const noContext: EvaluationContext = Object.freeze({});

/** A context may be anything at run time, even an object that throws when it is read: then it counts as empty. */
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
  const connection = createConnectionState(listeners);
  const table = createFlagTable();
  const { entries } = table;
  let known = false;
  let fromServer = false;

  const take = (change: () => string[]) => {
    const wasKnown = known;
    known = true;
    const keys = change();
    // The first flags of all are not a change of anything.
    if (keys.length === 0 || !wasKnown) return keys.length > 0;
    listeners.tell("change", { keys });
    return true;
  };

  if (options.bootstrap !== undefined) {
    const flags = flagsIn(options.bootstrap);
    take(() => table.replace(flags));
  }
  const kept =
    options.cache &&
    createFlagCache(options.cache, table.flags, (error) => listeners.tell("error", { error }));
  void kept?.load().then((flags) => {
    // The server was quicker.
    if (flags !== undefined && !fromServer) take(() => table.replace(flags));
  });

  const stop = new AbortController();
  const takeFromServer = (change: () => string[]) => {
    const first = !fromServer;
    fromServer = true;
    if (take(change) || first) kept?.save();
  };
  const following = followFlags({
    server,
    timing,
    streaming: options.streaming ?? true,
    signal: stop.signal,
    onSnapshot: (snapshot) => takeFromServer(() => table.replace(flagsOf(snapshot))),
    onChange: ({ key, value, level }) =>
      takeFromServer(() => table.change(key, value && withLevel(value, level))),
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
    ready: connection.ready,
    on: listeners.on,
    flags: table.flags,
    isEnabled(key, context, fallback = false) {
      const entry = entries.get(key);
      if (entry === undefined) return fallback;
      const answer = evaluateEntry(entry, context);
      if ("errorCode" in answer) return fallback;
      if (answer.value) entry.on += 1;
      else entry.off += 1;
      return answer.value;
    },
    details(key, context, fallback = false) {
      const entry = entries.get(key);
      if (entry === undefined) return known ? notFound(fallback, key) : notReady(fallback);
      const answer = evaluateEntry(entry, context);
      if ("errorCode" in answer) {
        return failedDetails(fallback, answer.errorCode, answer.errorDetails);
      }
      if (answer.value) entry.on += 1;
      else entry.off += 1;
      return answer;
    },
    async close() {
      if (connection.current === "closed") return;
      connection.close();
      stop.abort();
      await Promise.all([following, usage?.close(), kept?.settled()]);
    },
  };
};
