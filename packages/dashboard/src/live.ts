// The current flags and segments of the environment with their versions, kept up to date by the server's stream.
import type { Flag } from "@halyard/core/flags/registry";
import type { Kind } from "@halyard/core/kinds";
import type { Segment, SegmentChange, SegmentSummary } from "@halyard/core/targeting/segment";
import { type EnvironmentEntry, followEnvironment } from "@halyard/sdk/follow-environment";
import type { SessionFetch } from "./api.ts";
import { connectWhileVisible, waitToReconnect } from "./page-visibility.ts";

export interface LiveFlag {
  readonly flag: Flag;
  readonly version: number;
}

/** Without its members, of which there can be many: its page reads them. */
export interface LiveSegment {
  readonly segment: SegmentSummary;
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
  /** Sorted by key. */
  readonly segments: readonly LiveSegment[];
  readonly segmentsByKey: ReadonlyMap<string, LiveSegment>;
}

export interface Changed {
  readonly kind: Kind;
  readonly key: string;
}

export interface Live {
  readonly state: () => LiveState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Called with everything that changed; undefined when any of it may have. */
  readonly onChange: (listener: (changed: Changed | undefined) => void) => () => void;
  /** Shows an optimistic change until the returned function is called. */
  readonly assume: (key: string, flag: Flag) => () => void;
  /** Takes the server's response to a change; older versions from the stream are ignored. */
  readonly put: (key: string, flag: Flag | null, version: number) => void;
  /** The same of a segment. */
  readonly putSegment: (key: string, segment: SegmentSummary | null, version: number) => void;
  readonly close: () => void;
}

/** The user is waiting, so the page reconnects sooner than a program does. */
const timing = { maximumDelay: 5_000 };

interface Table<Entry> {
  readonly known: Map<string, Entry>;
  /** Null for one that was deleted. False when something newer is known: a late event must not bring back the older. */
  put(key: string, entry: Entry | null, version: number): boolean;
  clear(): void;
}

const createTable = <Entry extends { readonly version: number }>(): Table<Entry> => {
  const known = new Map<string, Entry>();
  const deleted = new Map<string, number>();
  return {
    known,
    put(key, entry, version) {
      const latest = Math.max(known.get(key)?.version ?? 0, deleted.get(key) ?? 0);
      if (version <= latest) return false;
      if (entry === null) {
        known.delete(key);
        deleted.set(key, version);
      } else known.set(key, entry);
      return true;
    },
    clear() {
      known.clear();
      deleted.clear();
    },
  };
};

const inOrder = <Entry>(entries: ReadonlyMap<string, Entry>): readonly Entry[] =>
  [...entries].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, entry]) => entry);

const summaryOf = ({ include, exclude, ...segment }: Segment): SegmentSummary => ({
  ...segment,
  counts: { include: include.length, exclude: exclude.length },
});
const withoutMembers = ({ key, description, when, counts }: SegmentChange): SegmentSummary => ({
  key,
  description,
  when,
  counts,
});

export const nothingYet: LiveState = {
  status: "connecting",
  flags: [],
  byKey: new Map(),
  segments: [],
  segmentsByKey: new Map(),
};

export const createLive = (fetch: SessionFetch): Live => {
  const flags = createTable<LiveFlag>();
  const segments = createTable<LiveSegment>();
  const assumed = new Map<string, Flag>();
  const listeners = new Set<() => void>();
  const changeListeners = new Set<(changed: Changed | undefined) => void>();
  const stop = new AbortController();
  let state = nothingYet;
  let { status } = state;
  let isScheduled = false;

  const publish = () => {
    isScheduled = false;
    const byKey = new Map(flags.known);
    for (const [key, flag] of assumed) {
      const entry = byKey.get(key);
      if (entry) byKey.set(key, { ...entry, flag });
    }
    const segmentsByKey = new Map(segments.known);
    state = {
      status,
      flags: inOrder(byKey),
      byKey,
      segments: inOrder(segmentsByKey),
      segmentsByKey,
    };
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

  const tell = (changed: Changed | undefined) => {
    publishSoon();
    for (const listener of changeListeners) listener(changed);
  };
  const put = (key: string, flag: Flag | null, version: number) => {
    if (flags.put(key, flag && { flag, version }, version)) tell({ kind: "flag", key });
  };
  const putSegment = (key: string, segment: SegmentSummary | null, version: number) => {
    const entry = segment && { segment, version };
    if (segments.put(key, entry, version)) tell({ kind: "segment", key });
  };
  const replace = (entries: readonly EnvironmentEntry[]) => {
    flags.clear();
    segments.clear();
    for (const { kind, key, value, version } of entries) {
      if (kind === "flag") flags.put(key, { flag: value, version }, version);
      else segments.put(key, { segment: summaryOf(value), version }, version);
    }
    tell(undefined);
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
      else putSegment(key, value && withoutMembers(value), version);
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
    putSegment,
    close: () => stop.abort(),
  };
};
