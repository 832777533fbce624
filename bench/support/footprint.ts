// What a server takes before anybody asks it anything: time until it is ready, and memory at rest.
import { execFileSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { figure, median, nth } from "./report.ts";

interface Subject {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Long enough for what a start leaves to be cleared away. */
const rest = 5_000;

const megabytesOf = (pid: number): number =>
  (Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) * 1_024) /
  1e6;

type Start = () => Promise<Subject>;
type Row = (what: string, ready: string, memory: string) => void;

/**
 * One after the other, in turns: what a noisy machine does to one, it does to the others. Each `start` comes back when its server is ready.
 * The first time does not count: it fills the caches of the machine. Adds a row for each of them.
 */
export const measureFootprints = async (
  rounds: number,
  starts: Readonly<Record<string, Start>>,
  row: Row,
): Promise<void> => {
  const found = Object.entries(starts).map(([what, start]) => ({
    what,
    start,
    ready: [] as number[],
    memory: [] as number[],
  }));
  for (let round = 0; round <= rounds; round += 1) {
    for (const { start, ready, memory } of found) {
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
  }
  for (const { what, ready, memory } of found) {
    figure(`start to ready in ms: ${what}`, median(ready));
    figure(`memory at rest in MB: ${what}`, median(memory));
    const [least, middle, most] = [0, 0.5, 1].map((share) => Math.round(nth(ready, share)));
    row(what, `${middle} ms (${least} to ${most})`, `${Math.round(median(memory))} MB`);
  }
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
