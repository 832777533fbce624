// What is measured runs in processes of its own, all of which end with the bench.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

export const benchKey = "bench-key-0123456789abcdef";
/** The header of a request with this key. */
export const authorization = `Bearer ${benchKey}`;

type Settings = Readonly<Record<string, string>>;

export interface Started {
  readonly pid: number;
  readonly url: string;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill();
});

const stop = async (child: ChildProcess): Promise<void> => {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, "exit");
};

export const stopAll = async (): Promise<void> => {
  await Promise.all([...running].map(stop));
};

const startedAt = (child: ChildProcess, url: string): Started => ({
  pid: child.pid ?? 0,
  url,
  stop: () => stop(child),
});

/** Runs the command of Halyard until it prints its address. */
const serve = async (command: string, settings: Settings, args: readonly string[]) => {
  const child = spawn(process.execPath, [command, "serve", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      PORT: "0",
      HALYARD_LOG_LEVEL: "fatal",
      HALYARD_BOOTSTRAP_KEYS: `development=${benchKey}`,
      ...settings,
    },
  });
  running.add(child);
  for await (const line of createInterface(child.stdout)) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stdout.resume();
    return startedAt(child, url);
  }
  throw new Error(`${command} ended before it was up.`);
};
const repository = join(import.meta.dirname, "../../packages/cli/bin/halyard.mjs");
export const startHalyard = (settings: Settings, ...args: string[]): Promise<Started> =>
  serve(repository, settings, args);
/** From the package that is installed in this folder. */
export const startInstalled = (folder: string, settings: Settings): Promise<Started> =>
  serve(join(folder, "node_modules/@halyard/server/bin/halyard.mjs"), settings, []);

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

/** Runs a program of others in a folder of its own until it is ready. */
export const startProgram = async (
  program: string,
  args: readonly string[],
  { cwd, env, url, readyPath }: { cwd: string; env: Settings; url: string; readyPath: string },
): Promise<Started> => {
  const child = spawn(program, args, { cwd, stdio: "ignore", env: { ...process.env, ...env } });
  running.add(child);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${program} ended with ${code} before it was ready.`);
  });
  await Promise.race([untilReady(url + readyPath), ended]);
  ended.catch(() => {});
  return startedAt(child, url);
};
