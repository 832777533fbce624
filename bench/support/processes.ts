// What is measured runs in processes of its own: started as users start it, found by what it prints, ended together.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

export const benchKey = "bench-key-0123456789abcdef";

type Settings = Readonly<Record<string, string>>;

export interface Started {
  readonly pid: number;
  /** The first address that it printed, without a path. */
  readonly url: string;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
const pathOf = (script: string): string => resolve(import.meta.dirname, "..", script);

const end = async (child: ChildProcess): Promise<void> => {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, "exit");
};

/** Runs a script of bench/ and gives what it prints, line by line. */
export const startScript = (script: string, args: readonly string[], settings: Settings = {}) => {
  const child = spawn(process.execPath, [pathOf(script), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...settings },
  });
  running.add(child);
  return { child, lines: createInterface(child.stdout) };
};

/** The same, and gives the first line, which is JSON. */
export const firstLine = async (script: string, ...args: string[]): Promise<unknown> => {
  for await (const line of startScript(script, args).lines) return JSON.parse(line);
  throw new Error(`${script} ended without a word.`);
};

/** The same, and gives what it prints as its address. */
export const startServer = async (
  script: string,
  args: readonly string[],
  settings: Settings = {},
): Promise<Started> => {
  const { child, lines } = startScript(script, args, settings);
  for await (const line of lines) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url === undefined) continue;
    child.stdout.resume();
    return { pid: child.pid ?? 0, url, stop: () => end(child) };
  }
  throw new Error(`${script} ended before it was up.`);
};

/** The command of the repository, or of the installation whose command this is. */
const start = (command: string, settings: Settings, args: readonly string[]): Promise<Started> =>
  startServer(command, ["serve", ...args], {
    PORT: "0",
    HALYARD_LOG_LEVEL: "fatal",
    HALYARD_BOOTSTRAP_KEYS: `development=${benchKey}`,
    ...settings,
  });
export const startHalyard = (settings: Settings, ...args: string[]): Promise<Started> =>
  start("../packages/cli/bin/halyard.mjs", settings, args);
export const startInstalled = (folder: string, settings: Settings): Promise<Started> =>
  start(join(folder, "node_modules/@halyard/server/bin/halyard.mjs"), settings, []);

export const stopAll = async (): Promise<void> => {
  await Promise.all([...running].map(end));
};
