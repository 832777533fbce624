// The connection state of a client: its transitions, their events, and waiting until it is ready.
import { type ClientError, isRefusal } from "./client-error.ts";
import type { Listeners } from "./listeners.ts";
import { maxConfirmedAge, type Timing } from "./timing.ts";

export type ClientState =
  /** The server's flags are not loaded yet. */
  | "connecting"
  /** The values are the server's, as of about the last minute at most. */
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
  /** The values may be out of date from now on; emitted once, `error` for each failed attempt. */
  readonly stale: { readonly error: ClientError };
  /** Live again after `stale` or `failed`. */
  readonly reconnected: Record<never, never>;
  /** An attempt failed; the client retries. */
  readonly error: { readonly error: ClientError };
  readonly closed: Record<never, never>;
}

/** Why the server's flags are not loaded is in `error`. */
export type Ready = { readonly ok: true } | { readonly ok: false; readonly error: ClientError };

export interface ReadyOptions {
  /** In milliseconds; 10,000 by default. */
  readonly timeout?: number;
  /** True to accept values of `bootstrap` or `cache`, which may be out of date. */
  readonly allowStale?: boolean;
}

export interface ConnectionState {
  readonly current: ClientState;
  /** The last error; undefined while the values are the server's. */
  readonly error: ClientError | undefined;
  /** Undefined unless live. */
  readonly transport: Transport | undefined;
  /** Milliseconds since the server confirmed the values; undefined before it has. */
  readonly valuesAge: number | undefined;
  /** There are values from `bootstrap` or `cache`. */
  readonly known: () => void;
  /** The values are the server's as of now. Without a server there is no transport. */
  readonly live: (transport?: Transport) => void;
  readonly lost: (error: ClientError) => void;
  /** Nothing is wrong, but the values are no longer kept current. */
  readonly paused: (why: ClientError) => void;
  /** Settles when the server's flags are loaded, after the timeout, when the key is rejected or the client is closed. */
  readonly ready: (options?: ReadyOptions) => Promise<Ready>;
  close(): void;
}

const standardTimeout = 10_000;
const closedError: ClientError = { code: "CLOSED", message: "the client is closed" };

export const createConnectionState = (
  listeners: Listeners<ClientEvents>,
  warn: (error: ClientError) => void,
  timing: Timing,
): ConnectionState => {
  let current: ClientState = "connecting";
  let error: ClientError | undefined;
  let transport: Transport | undefined;
  /** By the clock of the system, which continues while the machine sleeps. */
  let confirmedAt: number | undefined;
  const age = () => (confirmedAt === undefined ? undefined : Math.max(0, Date.now() - confirmedAt));
  /** Where timers stand still, such as in a suspended process, nothing else reveals that the values are old. */
  const shown = (): ClientState =>
    current === "live" && (age() ?? 0) > maxConfirmedAge(timing) ? "stale" : current;
  let wasLive = false;
  let isKnown = false;
  /** Each is reported once, until the client is live again. */
  const reported = new Set<ClientError["code"]>();
  /** Each with whether it accepts values of `bootstrap` or `cache`. */
  const waiting = new Map<(ready: Ready) => void, boolean>();
  const settle = (ready: Ready, isStale = false) => {
    for (const [resolve, allowStale] of waiting) {
      if (isStale && !allowStale) continue;
      waiting.delete(resolve);
      resolve(ready);
    }
  };
  const report = (problem: ClientError) => {
    // After the first flags a server that is away for a while is no mistake: the events tell of it.
    if (reported.has(problem.code) || (wasLive && problem.code === "UNREACHABLE")) return;
    reported.add(problem.code);
    warn(problem);
  };

  return {
    get current() {
      return shown();
    },
    get error() {
      return error;
    },
    get transport() {
      return shown() === "live" ? transport : undefined;
    },
    get valuesAge() {
      return age();
    },
    known() {
      isKnown = true;
      settle({ ok: true }, true);
    },
    live(by) {
      if (current === "closed") return;
      transport = by;
      if (by !== undefined) confirmedAt = Date.now();
      if (current === "live") return;
      current = "live";
      error = undefined;
      reported.clear();
      const name = wasLive ? "reconnected" : "ready";
      wasLive = true;
      settle({ ok: true });
      listeners.emit(name, {});
    },
    lost(problem) {
      if (current === "closed") return;
      const before = current;
      error = problem;
      if (isRefusal(problem) || problem.code === "UNSUPPORTED_RUNTIME") {
        current = "failed";
        settle({ ok: false, error: problem });
      } else if (before === "live") current = "stale";
      report(problem);
      listeners.emit("error", { error: problem });
      if (before === "live" && current === "stale") listeners.emit("stale", { error: problem });
    },
    paused(why) {
      if (current !== "live") return;
      current = "stale";
      error = why;
      listeners.emit("stale", { error: why });
    },
    ready({ timeout = standardTimeout, allowStale = false } = {}) {
      if (current === "closed") return Promise.resolve({ ok: false, error: closedError });
      if (wasLive || (allowStale && isKnown)) return Promise.resolve({ ok: true });
      if (current === "failed" && error) return Promise.resolve({ ok: false, error });
      return new Promise((resolve) => {
        const settleOne = (ready: Ready) => {
          clearTimeout(timer);
          resolve(ready);
        };
        // This timer keeps the program running: the caller waits for it.
        const timer = setTimeout(
          () => {
            waiting.delete(settleOne);
            const message = `the server has not responded within ${timeout} ms`;
            resolve({ ok: false, error: error ?? { code: "UNREACHABLE", message } });
          },
          Math.min(timeout, 2 ** 31 - 1),
        );
        waiting.set(settleOne, allowStale);
      });
    },
    close() {
      if (current === "closed") return;
      current = "closed";
      error = closedError;
      settle({ ok: false, error: closedError });
      listeners.emit("closed", {});
      listeners.clear();
    },
  };
};
