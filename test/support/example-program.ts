// Copies an example into a folder of its own, and runs it there as a reader would.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { root } from "./pages.ts";

type Settings = Readonly<Record<string, string>>;

/** A copy of examples/<name> that is gone after the test; what was installed in the repository stays there. */
export const copyExample = (t: TestContext, name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `halyard-example-${name}-`));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  cpSync(join(root, "examples", name), folder, {
    recursive: true,
    filter: (path) => !/\/(node_modules|venv|target|dist|\.next)$/.test(path),
  });
  return folder;
};

export interface ExampleProgram {
  /** What it has printed so far. */
  readonly output: () => string;
  /** The first match in what it prints; fails when it ends without it. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** How it ended. */
  readonly ended: Promise<number | null>;
  stop(signal?: NodeJS.Signals): void;
}

/** Starts a command in the folder; it is ended after the test, with all that it started. */
export const startExample = (
  t: TestContext,
  cwd: string,
  settings: Settings,
  command: string,
  ...args: readonly string[]
): ExampleProgram => {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own: npm and mvn pass no signal on.
    detached: true,
  });
  let output = "";
  const watchers = new Set<() => void>();
  const tellAll = () => {
    for (const watch of watchers) watch();
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      tellAll();
    });
  }
  let hasEnded = false;
  const ended = once(child, "close").then(([code]) => {
    hasEnded = true;
    tellAll();
    return code as number | null;
  });
  const stop = (signal: NodeJS.Signals = "SIGTERM") => {
    if (!hasEnded && child.pid !== undefined) process.kill(-child.pid, signal);
  };
  t.after(async () => {
    stop("SIGKILL");
    await ended;
  });
  return {
    output: () => output,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const watch = () => {
          const match = pattern.exec(output);
          if (!match && !hasEnded) return;
          watchers.delete(watch);
          if (match) resolve(match);
          else reject(new Error(`${command} ended without ${pattern}:\n${output}`));
        };
        watchers.add(watch);
        watch();
      }),
    ended,
    stop,
  };
};

/** Runs a command to its end and gives what it printed; fails when it does not end well. */
export const runExample = async (
  t: TestContext,
  cwd: string,
  settings: Settings,
  command: string,
  ...args: readonly string[]
): Promise<string> => {
  const program = startExample(t, cwd, settings, command, ...args);
  const code = await program.ended;
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} → ${code}:\n${program.output()}`);
  return program.output();
};
