// The command `halyard` as its users run it: a process of its own, watched by what it prints.
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { InstanceOptions } from "../../src/server/instance.ts";
import { unhurriedStatements } from "./postgres.ts";
import { storeSettings, unhurried } from "./test-store.ts";

type Settings = Readonly<Record<string, string>>;

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface HalyardProcess {
  readonly pid: number;
  /** The first match in what it prints on standard output; fails when the process ends without it. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
}

export interface RunningServer extends HalyardProcess {
  /** Where it listens, such as http://127.0.0.1:4400. */
  readonly url: string;
  /** The admin keys that it printed, by environment; empty unless it was the first start. */
  readonly keys: Readonly<Record<string, string>>;
}

/** The npm scripts run the packaged command, which starts in half the time; single files run the source. */
export const commandFile =
  process.env.HALYARD_TEST_COMMAND ??
  fileURLToPath(new URL("../../../cli/src/main.ts", import.meta.url));

/** Halves the time of a start, of which the tests make some hundred. */
export const compileCache = fileURLToPath(
  new URL("../../../../node_modules/.cache/halyard-test", import.meta.url),
);

/** One that hangs is ended, whatever becomes of the test that waits for it. */
const longestLife = 3_600_000;

const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Only the settings given reach the command, whatever the shell of the tests has set. */
export const environmentOf = (settings: Settings): Record<string, string | undefined> => ({
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: compileCache,
  HALYARD_POSTGRES_TIMEOUT: unhurriedStatements,
  ...settings,
});

export const spawnHalyard = (
  args: readonly string[],
  settings: Settings = {},
  [program, ...before]: readonly [string, ...string[]] = [process.execPath, commandFile],
): HalyardProcess => {
  const child = spawn(program, [...before, ...args], {
    env: environmentOf(settings),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: longestLife,
    killSignal: "SIGKILL",
  });
  running.add(child);
  const output = { stdout: "", stderr: "" };
  const watchers = new Set<() => void>();
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      output[stream] += text;
      for (const watch of watchers) watch();
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      running.delete(child);
      resolve({ code, signal, ...output });
    });
  });

  return {
    pid: child.pid ?? 0,
    ended,
    kill: (signal) => void child.kill(signal),
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const watch = () => {
          const match = pattern.exec(output.stdout);
          if (!match) return;
          watchers.delete(watch);
          resolve(match);
        };
        watchers.add(watch);
        watch();
        ended.then(({ code, signal }) => {
          reject(
            new Error(
              `halyard ${args.join(" ")} ended (${signal ?? code}) without printing ${pattern}:\n${output.stdout}${output.stderr}`,
            ),
          );
        }, reject);
      }),
  };
};

export const runHalyard = (args: readonly string[], settings?: Settings): Promise<Ended> =>
  spawnHalyard(args, settings).ended;

/** Starts `halyard serve` on the store of this folder and a free port, and comes back when it is up. */
export const serveHalyard = async (
  folder: string,
  settings: Settings = {},
): Promise<RunningServer> => serveOn({ ...(await storeSettings(folder)), ...settings });

/** The same with options that are no settings. Without bootstrap keys, no key is known. */
export const serveWithOptions = async (
  folder: string,
  settings: Settings,
  options: InstanceOptions,
): Promise<RunningServer> => {
  const file = fileURLToPath(new URL("serve-with-options.ts", import.meta.url));
  return untilUp([JSON.stringify(options)], { ...(await storeSettings(folder)), ...settings }, [
    process.execPath,
    file,
  ]);
};

/** Starts `halyard serve` on the store that the settings name. */
export const serveOn = (settings: Settings): Promise<RunningServer> => untilUp(["serve"], settings);

const untilUp = async (
  args: readonly string[],
  settings: Settings,
  program?: Parameters<typeof spawnHalyard>[2],
): Promise<RunningServer> => {
  const withDefaults = { PORT: "0", HALYARD_MAX_LAG: unhurried, ...settings };
  const halyard = spawnHalyard(args, withDefaults, program);
  const [greeting] = await halyard.printed(/Halyard is up\.[\s\S]*/);
  const url = /API +(\S+)\/api\/v1/.exec(greeting)?.[1] ?? "";
  const keys = [...greeting.matchAll(/^ {2}([a-z0-9-]+) +(hal_\S+)$/gm)];
  return {
    ...halyard,
    url,
    keys: Object.fromEntries(keys.map(([, environment, text]) => [environment, text])),
  };
};
