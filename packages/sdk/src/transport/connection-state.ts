// The connection state of a client: its transitions and their events, and `ready`.
import { type ClientError, isRefusal } from "./client-error.ts";
import { createListeners, type Listeners } from "./listeners.ts";
import { longestTimer } from "./timers.ts";
import { maxConfirmedAge, type Timing } from "./timing.ts";
import type { Warnings } from "./warn.ts";

export type ClientState =
  /** The server's flags are not loaded yet. */
  | "connecting"
  /** The server has confirmed the values within about the last minute. */
  | "live"
  /** The values may be out of date: the server is unreachable, or the page is hidden. */
  | "stale"
  /** The key is rejected: the last values apply, and the client keeps trying. */
  | "failed"
  | "closed";

/** How changes arrive. */
export type Transport = "stream" | "poll";

export interface ClientEvents {
  /** The server's flags are loaded for the first time. */
  readonly ready: Record<never, never>;
  /** Values may have changed. */
  readonly change: { readonly keys: readonly string[] };
  /** The values may be out of date from now on. Emitted once, but `error` for each failed attempt. */
  readonly stale: { readonly error: ClientError };
  /** Live again after `stale` or `failed`. */
  readonly reconnected: Record<never, never>;
  /** An attempt failed; the client retries. */
  readonly error: { readonly error: ClientError };
  readonly closed: Record<never, never>;
}

/** `error` says why the server's flags are not loaded. */
export type Ready = { readonly ok: true } | { readonly ok: false; readonly error: ClientError };

export interface ReadyOptions {
  /** In milliseconds; 10,000 by default. */
  readonly timeout?: number;
  /** True to accept values of `bootstrap` or `cache`, which may be out of date. */
  readonly allowStale?: boolean;
}

/** The part of the state that clients expose. */
export interface ExposedState {
  readonly state: ClientState;
  /** The last error; undefined while the values are the server's. */
  readonly error: ClientError | undefined;
  /** How changes arrive; undefined unless the state is `live`, and without a server. */
  readonly transport: Transport | undefined;
  /** Milliseconds since the server sent the values or confirmed them; undefined before it has. */
  readonly valuesAge: number | undefined;
  /** Waits for the server's flags: `ok`, or why not, after the timeout, when the key is rejected or the client is closed. */
  ready(options?: ReadyOptions): Promise<Ready>;
  /** Returns the function that removes the listener. Errors of listeners are logged. */
  readonly on: Listeners<ClientEvents>["on"];
}

export interface ConnectionState {
  readonly exposed: ExposedState;
  /** The values of these flags may have changed. */
  readonly changed: (keys: readonly string[]) => void;
  /** There are values from `bootstrap` or `cache`. */
  readonly known: () => void;
  /** The server has just confirmed the values. Without a server there is no transport. */
  readonly live: (transport?: Transport) => void;
  /** Something failed that doesn't affect the values. */
  readonly failed: (error: ClientError) => void;
  /** The values are no longer kept current. */
  readonly lost: (error: ClientError) => void;
  close(): void;
}

const standardTimeout = 10_000;

export const createConnectionState = (warn: Warnings, timing: Timing): ConnectionState => {
  const listeners = createListeners<ClientEvents>(warn.listenerFailed);
  let current: ClientState = "connecting";
  let error: ClientError | undefined;
  let transport: Transport | undefined;
  /** By the clock of the system, which continues while the machine sleeps. */
  let confirmedAt: number | undefined;
  let wasLive = false;
  let isKnown = false;
  /** Each is reported once, until the client is live again. */
  const reported = new Set<ClientError["code"]>();
  /** Each settles a call of `ready` that can be settled now. */
  const waiting = new Set<() => void>();
  const settle = () => {
    for (const each of waiting) each();
  };

  const exposed: ExposedState = {
    get state() {
      // In a suspended process, timers stand still: only the age shows that the values are old.
      return current === "live" && (exposed.valuesAge ?? 0) > maxConfirmedAge(timing)
        ? "stale"
        : current;
    },
    get error() {
      return error;
    },
    get transport() {
      return exposed.state === "live" ? transport : undefined;
    },
    get valuesAge() {
      return confirmedAt && Math.max(0, Date.now() - confirmedAt);
    },
    ready: ({ timeout = standardTimeout, allowStale = false } = {}) =>
      new Promise((resolve) => {
        const settleOne = (late?: ClientError) => {
          const isReady = current !== "closed" && (wasLive || (allowStale && isKnown));
          const failure = /closed|failed/.test(current) ? error : late && (error ?? late);
          if (!isReady && !failure) return;
          clearTimeout(timer);
          waiting.delete(settleOne);
          resolve(isReady || !failure ? { ok: true } : { ok: false, error: failure });
        };
        const message = `timed out after ${timeout} ms`;
        // This timer keeps the program running: the caller waits for it.
        const timer = setTimeout(
          () => settleOne({ code: "UNREACHABLE", message }),
          Math.min(timeout, longestTimer),
        );
        waiting.add(settleOne);
        settleOne();
      }),
    on: listeners.on,
  };

  const failed = (problem: ClientError) => listeners.emit("error", { error: problem });

  return {
    exposed,
    failed,
    changed(keys) {
      if (keys.length > 0) listeners.emit("change", { keys });
    },
    known() {
      isKnown = true;
      settle();
    },
    live(by) {
      if (current === "closed") return;
      transport = by;
      if (by) confirmedAt = Date.now();
      if (current === "live") return;
      const name = wasLive ? "reconnected" : "ready";
      current = "live";
      error = undefined;
      wasLive = true;
      reported.clear();
      settle();
      listeners.emit(name, {});
    },
    lost(problem) {
      if (current === "closed") return;
      const { code } = problem;
      const wasCurrent = current === "live";
      error = problem;
      if (isRefusal(problem)) current = "failed";
      else if (wasCurrent) current = "stale";
      settle();
      if (code !== "PAUSED") {
        // An outage after the first flags is not a mistake in the setup: only the events report it.
        if (!reported.has(code) && !(wasLive && code === "UNREACHABLE")) warn.problem(problem);
        reported.add(code);
        failed(problem);
      }
      if (wasCurrent && current === "stale") listeners.emit("stale", { error: problem });
    },
    close() {
      if (current === "closed") return;
      current = "closed";
      error = { code: "CLOSED", message: "the client is closed" };
      settle();
      listeners.emit("closed", {});
      listeners.clear();
    },
  };
};
