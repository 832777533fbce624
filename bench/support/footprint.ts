// What a server takes before anybody asks it anything: time until it is ready, and memory at rest.
import { execFileSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { median } from "./report.ts";

export interface Footprint {
  /** From its start as a process until it says that it is ready, in milliseconds; median. */
  readonly ready: number;
  /** Megabytes in memory, of 1,000,000 bytes; median. */
  readonly memory: number;
}

interface Subject {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Long enough for what a start leaves to be cleared away. */
const rest = 5_000;

const megabytesOf = (pid: number): number =>
  (Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) * 1_024) /
  1e6;

/** `start` comes back when the server is ready. The first time does not count: it fills the caches of the machine. */
export const measureFootprint = async (
  rounds: number,
  start: () => Promise<Subject>,
): Promise<Footprint> => {
  const ready: number[] = [];
  const memory: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const began = performance.now();
    const subject = await start();
    const took = performance.now() - began;
    await pause(rest);
    if (round > 0) {
      ready.push(took);
      memory.push(megabytesOf(subject.pid));
    }
    await subject.stop();
  }
  return { ready: median(ready), memory: median(memory) };
};

export const untilReady = async (url: string): Promise<void> => {
  for (;;) {
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await pause(5);
  }
};
