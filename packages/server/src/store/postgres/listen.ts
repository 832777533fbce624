// Hears of other instances' commits over a connection of its own, which is made again whenever it is lost.
import { Client, type ClientConfig } from "pg";
import { channel } from "./traits.ts";

const [shortestPause, longestPause] = [200, 5_000];

export interface HintListener {
  readonly listen: (listener: () => void) => () => void;
  readonly stop: () => Promise<void>;
}

export const listenForHints = (settings: ClientConfig): HintListener => {
  const listeners = new Set<() => void>();
  let client: Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pause = shortestPause;
  let isStopped = false;

  const tell = () => {
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
      // Many instances lose their connections at the same moment: they do not come back at the same one.
      timer = setTimeout(() => void connect(), pause * (0.5 + Math.random() / 2)).unref();
      pause = Math.min(2 * pause, longestPause);
    };
    fresh.on("error", lost).on("end", lost).on("notification", tell);
    try {
      await fresh.connect();
      await fresh.query(`listen ${channel}`);
      pause = shortestPause;
      // Whatever was told while nobody listened.
      tell();
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
