// Where a client stands with its server, what it tells about that, and the wait until it is ready.
import { type ClientError, isRefusal } from "./client-error.ts";
import type { Listeners } from "./listeners.ts";

export type ClientState =
  /** The server's flags are not known yet. */
  | "connecting"
  /** The values are the server's, as far as the client can know. */
  | "live"
  /** The server is out of reach: the last values hold. */
  | "stale"
  /** The key is refused: the last values hold, and it is tried again from time to time. */
  | "failed"
  | "closed";

export interface ClientEvents {
  /** The server's flags are known, for the first time. */
  readonly ready: Record<never, never>;
  /** Values may have changed. */
  readonly change: { readonly keys: readonly string[] };
  /** The server is out of reach; told once, while `error` tells of each attempt. */
  readonly stale: { readonly error: ClientError };
  /** Live again after `stale` or `failed`. */
  readonly reconnected: Record<never, never>;
  /** An attempt failed; there will be another. */
  readonly error: { readonly error: ClientError };
  readonly closed: Record<never, never>;
}

export interface ReadyOptions {
  /** In milliseconds; 10,000 unless told otherwise. */
  readonly timeout?: number;
}

export interface ConnectionState {
  readonly current: ClientState;
  readonly live: () => void;
  readonly lost: (error: ClientError) => void;
  /** True at once when the server's flags are known; false when the time is over, the key is refused or all is closed. */
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
      listeners.tell(name, {});
    },
    lost(error) {
      if (current === "closed") return;
      const before = current;
      if (isRefusal(error)) {
        current = "failed";
        settle(false);
      } else if (before === "live") current = "stale";
      listeners.tell("error", { error });
      if (before === "live" && current === "stale") listeners.tell("stale", { error });
    },
    ready({ timeout = standardTimeout } = {}) {
      if (wasLive && current !== "closed") return Promise.resolve(true);
      if (current === "failed" || current === "closed") return Promise.resolve(false);
      return new Promise((resolve) => {
        const settleOne = (isReady: boolean) => {
          clearTimeout(timer);
          resolve(isReady);
        };
        // This timer keeps the program alive: somebody waits for it.
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
      listeners.tell("closed", {});
      listeners.clear();
    },
  };
};
