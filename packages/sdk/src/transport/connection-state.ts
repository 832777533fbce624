// The connection state of a client: its transitions, their events, and waiting until it is ready.
import { type ClientError, isRefusal } from "./client-error.ts";
import type { Listeners } from "./listeners.ts";

export type ClientState =
  /** The server's flags are not loaded yet. */
  | "connecting"
  /** The values are the server's. */
  | "live"
  /** The server is unreachable: the last values apply. */
  | "stale"
  /** The key is rejected: the last values apply, and the client retries at intervals. */
  | "failed"
  | "closed";

export interface ClientEvents {
  /** The server's flags are loaded for the first time. */
  readonly ready: Record<never, never>;
  /** Values may have changed. */
  readonly change: { readonly keys: readonly string[] };
  /** The server became unreachable; emitted once, `error` for each failed attempt. */
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
}

export interface ConnectionState {
  readonly current: ClientState;
  /** The last error; undefined while the values are the server's. */
  readonly error: ClientError | undefined;
  readonly live: () => void;
  readonly lost: (error: ClientError) => void;
  /** Settles when the server's flags are loaded, after the timeout, when the key is rejected or the client is closed. */
  readonly ready: (options?: ReadyOptions) => Promise<Ready>;
  close(): void;
}

const standardTimeout = 10_000;
const closedError: ClientError = { code: "CLOSED", message: "the client is closed" };

export const createConnectionState = (
  listeners: Listeners<ClientEvents>,
  warn: (error: ClientError) => void,
): ConnectionState => {
  let current: ClientState = "connecting";
  let error: ClientError | undefined;
  let wasLive = false;
  /** Each is reported once, until the client is live again. */
  const reported = new Set<ClientError["code"]>();
  const waiting = new Set<(ready: Ready) => void>();
  const settle = (ready: Ready) => {
    for (const resolve of waiting) resolve(ready);
    waiting.clear();
  };
  const report = (problem: ClientError) => {
    // After the first flags a server that is away for a while is no mistake: the events tell of it.
    if (reported.has(problem.code) || (wasLive && problem.code === "UNREACHABLE")) return;
    reported.add(problem.code);
    warn(problem);
  };

  return {
    get current() {
      return current;
    },
    get error() {
      return error;
    },
    live() {
      if (current === "live" || current === "closed") return;
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
      if (isRefusal(problem)) {
        current = "failed";
        settle({ ok: false, error: problem });
      } else if (before === "live") current = "stale";
      report(problem);
      listeners.emit("error", { error: problem });
      if (before === "live" && current === "stale") listeners.emit("stale", { error: problem });
    },
    ready({ timeout = standardTimeout } = {}) {
      if (current === "closed") return Promise.resolve({ ok: false, error: closedError });
      if (wasLive) return Promise.resolve({ ok: true });
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
        waiting.add(settleOne);
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
