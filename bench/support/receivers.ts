// Receivers of webhooks in a process of their own, and how many requests they got.
import { setTimeout as pause } from "node:timers/promises";
import { firstLine } from "./processes.ts";

export interface Receivers {
  readonly urls: readonly string[];
  readonly ports: readonly number[];
  /** Requests so far, all of them together. */
  readonly received: () => Promise<number>;
  /** Waits until there were so many. */
  readonly until: (count: number) => Promise<void>;
}

export const startReceivers = async (count: number): Promise<Receivers> => {
  const ports = (await firstLine("support/receiver.ts", String(count))) as number[];
  const received = async () =>
    (await (await fetch(`http://127.0.0.1:${ports[0]}`)).json()) as number;
  return {
    urls: ports.map((port) => `http://127.0.0.1:${port}/hook`),
    ports,
    received,
    async until(wanted) {
      while ((await received()) < wanted) await pause(5);
    },
  };
};
