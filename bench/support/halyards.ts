// Servers for a measurement: started as their users start them, found by what they print, and ended together.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const benchKey = "bench-key-0123456789abcdef";

const command = fileURLToPath(new URL("../../packages/cli/src/main.ts", import.meta.url));
const running = new Set<ChildProcess>();

export interface Halyard {
  readonly url: string;
  stop(): Promise<void>;
}

const end = async (child: ChildProcess): Promise<void> => {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, "exit");
};

export const startHalyard = async (
  settings: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<Halyard> => {
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
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url === undefined) continue;
    child.stdout.resume();
    return { url, stop: () => end(child) };
  }
  throw new Error("Halyard ended before it was up.");
};

export const stopHalyards = async (): Promise<void> => {
  await Promise.all([...running].map(end));
};
