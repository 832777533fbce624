// Listens for the commits of other instances on a separate connection, and reconnects when it is lost.
import { Client, type ClientConfig } from "pg";
import { channel } from "./traits.ts";

const [shortestPause, longestPause] = [200, 5_000];

export interface HintListener {
  readonly listen: (listener: () => void) => () => void;
  readonly stop: () => Promise<void>;
}

/** What comes with the name of this instance tells it nothing new. */
export const listenForHints = (settings: ClientConfig, name: string): HintListener => {
  const listeners = new Set<() => void>();
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pause = shortestPause;
  let isStopped = false;

  const notify = () => {
    for (const listener of listeners) listener();
  };

  const connect = async (): Promise<void> => {
    const fresh = new Client(settings);
    client = fresh;
    let isLost = false;
    const lost = () => {
      if (isLost) return;
      isLost = true;
      void fresh.end().catch(() => {});
      if (isStopped) return;
      // Jitter: many instances lose their connections at the same moment.
      timer = setTimeout(() => void connect(), pause * (0.5 + Math.random() / 2)).unref();
      pause = Math.min(2 * pause, longestPause);
    };
    fresh
      .on("error", lost)
      .on("end", lost)
      .on("notification", ({ payload }) => {
        if (payload !== name) notify();
      });
    try {
      await fresh.connect();
      await fresh.query(`listen ${channel}`);
      pause = shortestPause;
      // For commits while it was not connected.
      notify();
    } catch {
      lost();
    }
  };

  return {
    listen(listener) {
      listeners.add(listener);
      if (!client) void connect();
      return () => listeners.delete(listener);
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
};
