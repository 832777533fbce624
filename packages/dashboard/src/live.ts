// The current flags of the environment with their versions, kept up to date by the server's stream.
import type { Flag } from "@halyard/core/flags/registry";
import { type EnvironmentEntry, followEnvironment } from "@halyard/sdk/follow-environment";
import type { SessionFetch } from "./api.ts";
import { connectWhileVisible, waitToReconnect } from "./page-visibility.ts";

export interface LiveFlag {
  readonly flag: Flag;
  readonly version: number;
}

export type LiveStatus =
  /** Nothing is known yet. */
  | "connecting"
  | "live"
  /** The page reconnects; what it shows may be outdated. */
  | "lost"
  /** The session or its key is refused. */
  | "refused";

export interface LiveState {
  readonly status: LiveStatus;
  /** Sorted by key. */
  readonly flags: readonly LiveFlag[];
  readonly byKey: ReadonlyMap<string, LiveFlag>;
}

export interface Live {
  readonly state: () => LiveState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Called with the key of every flag that changed; undefined when any of them may have. */
  readonly onChange: (listener: (key: string | undefined) => void) => () => void;
  /** Shows an optimistic change until the returned function is called. */
  readonly assume: (key: string, flag: Flag) => () => void;
  /** Takes the server's response to a change; older versions from the stream are ignored. */
  readonly put: (key: string, flag: Flag | null, version: number) => void;
  readonly close: () => void;
}

/** The user is waiting, so the page reconnects sooner than a program does. */
const timing = { maximumDelay: 5_000, refusedDelay: 5_000 };

const byKeyOrder = (one: LiveFlag, other: LiveFlag): number =>
  one.flag.key < other.flag.key ? -1 : 1;

export const createLive = (fetch: SessionFetch): Live => {
  const known = new Map<string, LiveFlag>();
  const assumed = new Map<string, Flag>();
  /** Versions at which flags were deleted: a late event with an earlier version must not restore one. */
  const deleted = new Map<string, number>();
  const listeners = new Set<() => void>();
  const changeListeners = new Set<(key: string | undefined) => void>();
  const stop = new AbortController();
  let status: LiveStatus = "connecting";
  let state: LiveState = { status, flags: [], byKey: known };
  let isScheduled = false;

  const publish = () => {
    isScheduled = false;
    const byKey = new Map(known);
    for (const [key, flag] of assumed) {
      const entry = byKey.get(key);
      if (entry) byKey.set(key, { ...entry, flag });
    }
    state = { status, flags: [...byKey.values()].sort(byKeyOrder), byKey };
    for (const listener of listeners) listener();
  };
  /** Changes that arrive together are rendered once. */
  const publishSoon = () => {
    if (isScheduled) return;
    isScheduled = true;
    queueMicrotask(publish);
  };
  const setStatus = (next: LiveStatus) => {
    if (status === next) return;
    status = next;
    publishSoon();
  };

  const put = (key: string, flag: Flag | null, version: number) => {
    const latest = Math.max(known.get(key)?.version ?? 0, deleted.get(key) ?? 0);
    if (version <= latest) return;
    if (flag === null) {
      known.delete(key);
      deleted.set(key, version);
    } else known.set(key, { flag, version });
    publishSoon();
    for (const listener of changeListeners) listener(key);
  };
  const replace = (entries: readonly EnvironmentEntry[]) => {
    known.clear();
    deleted.clear();
    for (const { kind, key, value, version } of entries) {
      if (kind === "flag") known.set(key, { flag: value, version });
    }
    publishSoon();
    for (const listener of changeListeners) listener(undefined);
  };

  void followEnvironment({
    url: location.origin,
    fetch,
    timing,
    readsSnapshot: true,
    signal: stop.signal,
    connectionSignal: connectWhileVisible(stop.signal),
    wait: waitToReconnect,
    onSnapshot: ({ entries }) => replace(entries),
    onChange({ kind, key, value, version }) {
      if (kind === "flag") put(key, value, version);
    },
    onLive: () => setStatus("live"),
    onLost({ kind }) {
      setStatus(kind === "refused" ? "refused" : "lost");
      return "retry";
    },
  });

  return {
    state: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onChange(listener) {
      changeListeners.add(listener);
      return () => changeListeners.delete(listener);
    },
    assume(key, flag) {
      assumed.set(key, flag);
      publishSoon();
      return () => {
        if (assumed.get(key) !== flag) return;
        assumed.delete(key);
        publishSoon();
      };
    },
    put,
    close: () => stop.abort(),
  };
};
