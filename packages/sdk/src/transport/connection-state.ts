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

export interface ReadyOptions {
  /** In milliseconds; 10,000 by default. */
  readonly timeout?: number;
}

export interface ConnectionState {
  readonly current: ClientState;
  readonly live: () => void;
  readonly lost: (error: ClientError) => void;
  /** True when the server's flags are loaded; false after the timeout, when the key is rejected or the client is closed. */
  readonly ready: (options?: ReadyOptions) => Promise<boolean>;
  close(): void;
}

const standardTimeout = 10_000;

export const createConnectionState = (listeners: Listeners<ClientEvents>): ConnectionState => {
  let current: ClientState = "connecting";
  let wasLive = false;
  const waiting = new Set<(isReady: boolean) => void>();
  const settle = (isReady: boolean) => {
    for (const resolve of waiting) resolve(isReady);
    waiting.clear();
  };

  return {
    get current() {
      return current;
    },
    live() {
      if (current === "live" || current === "closed") return;
      current = "live";
      const name = wasLive ? "reconnected" : "ready";
      wasLive = true;
      settle(true);
      listeners.emit(name, {});
    },
    lost(error) {
      if (current === "closed") return;
      const before = current;
      if (isRefusal(error)) {
        current = "failed";
        settle(false);
      } else if (before === "live") current = "stale";
      listeners.emit("error", { error });
      if (before === "live" && current === "stale") listeners.emit("stale", { error });
    },
    ready({ timeout = standardTimeout } = {}) {
      if (wasLive && current !== "closed") return Promise.resolve(true);
      if (current === "failed" || current === "closed") return Promise.resolve(false);
      return new Promise((resolve) => {
        const settleOne = (isReady: boolean) => {
          clearTimeout(timer);
          resolve(isReady);
        };
        // This timer keeps the program running: the caller waits for it.
        const timer = setTimeout(
          () => {
            waiting.delete(settleOne);
            resolve(false);
          },
          Math.min(timeout, 2 ** 31 - 1),
        );
        waiting.add(settleOne);
      });
    },
    close() {
      if (current === "closed") return;
      current = "closed";
      settle(false);
      listeners.emit("closed", {});
      listeners.clear();
    },
  };
};
