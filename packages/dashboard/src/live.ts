// The flags of the environment as they are now, with their versions, kept current by the server's stream.
import type { Flag } from "@halyard/core/flags/registry";
import { readEventStream } from "@halyard/sdk/read-event-stream";
import { delayAfter, standardTiming } from "@halyard/sdk/timing";
import type { SessionFetch } from "./api.ts";

export interface LiveFlag {
  readonly flag: Flag;
  readonly version: number;
}

export type LiveStatus =
  /** Nothing is known yet. */
  | "connecting"
  | "live"
  /** The connection is lost: what is shown may be old, and it is tried again. */
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
  /** Told the key of every flag that changed; undefined when any of them may have. */
  readonly onChange: (listener: (key: string | undefined) => void) => () => void;
  /** Shows it as if the server had said so already; the function given back takes that away. */
  readonly assume: (key: string, flag: Flag) => () => void;
  /** What the server answered to a change of our own; older news than that is passed over. */
  readonly put: (key: string, flag: Flag | null, version: number) => void;
  readonly close: () => void;
}

interface Told {
  readonly key: string;
  readonly version: number;
  readonly flag: Flag | null;
}

const byKeyOrder = (one: LiveFlag, other: LiveFlag): number =>
  one.flag.key < other.flag.key ? -1 : 1;

export const createLive = (fetch: SessionFetch): Live => {
  const known = new Map<string, LiveFlag>();
  const assumed = new Map<string, Flag>();
  /** Versions at which flags were deleted: a late word about an earlier version must not bring one back. */
  const gone = new Map<string, number>();
  const listeners = new Set<() => void>();
  const changeListeners = new Set<(key: string | undefined) => void>();
  const stop = new AbortController();
  let status: LiveStatus = "connecting";
  let state: LiveState = { status, flags: [], byKey: known };
  let scheduled = false;

  const publish = () => {
    scheduled = false;
    const byKey = new Map(known);
    for (const [key, flag] of assumed) {
      const entry = byKey.get(key);
      if (entry) byKey.set(key, { ...entry, flag });
    }
    state = { status, flags: [...byKey.values()].sort(byKeyOrder), byKey };
    for (const listener of listeners) listener();
  };
  /** Many changes that arrive together are drawn once. */
  const publishSoon = () => {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(publish);
  };
  const setStatus = (next: LiveStatus) => {
    if (status === next) return;
    status = next;
    publishSoon();
  };

  const put = ({ key, version, flag }: Told) => {
    const latest = Math.max(known.get(key)?.version ?? 0, gone.get(key) ?? 0);
    if (version <= latest) return;
    if (flag === null) {
      known.delete(key);
      gone.set(key, version);
    } else known.set(key, { flag, version });
    publishSoon();
    for (const listener of changeListeners) listener(key);
  };
  const replace = (flags: readonly LiveFlag[]) => {
    known.clear();
    gone.clear();
    for (const entry of flags) known.set(entry.flag.key, entry);
    publishSoon();
    for (const listener of changeListeners) listener(undefined);
  };

  const follow = async () => {
    let lastEventId = "";
    let failures = 0;
    while (!stop.signal.aborted) {
      await untilVisible(stop.signal);
      const visit = restWhenHidden(stop.signal);
      const outcome = await readEventStream({
        fetch,
        url: `${location.origin}/api/v1/stream`,
        headers: lastEventId === "" ? {} : { "last-event-id": lastEventId },
        timing: standardTiming,
        signal: visit.signal,
        onEvent({ name, data, id }) {
          if (name === "snapshot") replace((JSON.parse(data) as { flags: LiveFlag[] }).flags);
          else if (name === "change") put(JSON.parse(data) as Told);
          else return;
          lastEventId = id;
          setStatus("live");
        },
        onComment: () => setStatus("live"),
        onRetry: () => undefined,
      });
      visit.end();
      if (stop.signal.aborted) return;
      if (visit.signal.aborted) continue;
      failures = outcome.kind === "over" && outcome.sound ? 1 : failures + 1;
      setStatus(outcome.kind === "refused" ? "refused" : "lost");
      await waitUntilWorthIt(delayAfter(failures, pageTiming), stop.signal);
    }
  };
  void follow();

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
    put: (key, flag, version) => put({ key, flag, version }),
    close: () => stop.abort(),
  };
};

/** Somebody looks at this page: it comes back sooner than a program would. */
const pageTiming = { ...standardTiming, maximumDelay: 5_000 };

/** Ends after the time or at the first of these events, whichever comes first. */
const waitFor = (
  events: readonly (readonly [target: EventTarget, name: string])[],
  milliseconds?: number,
): Promise<void> =>
  new Promise((resolve) => {
    const end = new AbortController();
    const finish = () => {
      clearTimeout(timer);
      end.abort();
      resolve();
    };
    const timer = milliseconds === undefined ? undefined : setTimeout(finish, milliseconds);
    for (const [target, name] of events) target.addEventListener(name, finish, end);
  });

/** The pause, cut short when the machine is online again or the page is looked at again. */
const waitUntilWorthIt = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  waitFor(
    [
      [window, "online"],
      [document, "visibilitychange"],
      [signal, "abort"],
    ],
    milliseconds,
  );

const untilVisible = async (signal: AbortSignal): Promise<void> => {
  while (document.hidden && !signal.aborted) {
    await waitFor([
      [document, "visibilitychange"],
      [signal, "abort"],
    ]);
  }
};

const hiddenFor = 30_000;

/** A page that nobody looks at gives its connection back: a browser has only six for one server without HTTP/2. */
const restWhenHidden = (signal: AbortSignal) => {
  const rest = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onVisibility = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => rest.abort(), hiddenFor);
  };
  document.addEventListener("visibilitychange", onVisibility);
  return {
    signal: AbortSignal.any([signal, rest.signal]),
    end() {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisibility);
    },
  };
};
