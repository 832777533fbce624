// Runs the command in a thread instead of a process, with its own arguments, settings, output and exit code, in a
// twentieth of the time. For tests that don't need a process with signals, pipes or terminals.
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import {
  commandFile,
  type Ended,
  environmentOf,
  runHalyard,
} from "../../../server/test/support/halyard-process.ts";
import type { Run } from "./command-host.ts";

const idle: Worker[] = [];

const startHost = (): Worker =>
  new Worker(new URL("./command-host.ts", import.meta.url), {
    workerData: { file: pathToFileURL(commandFile).href },
    env: {},
    execArgv: [],
  });

const runOn = async (host: Worker, run: Run): Promise<Ended> => {
  host.ref();
  const ended = await new Promise<Ended>((resolve, reject) => {
    host.removeAllListeners().once("error", reject).once("message", resolve);
    host.once("exit", () => reject(new Error(`halyard ${run.args.join(" ")} ended its thread`)));
    host.postMessage(run);
  });
  host.unref();
  idle.push(host);
  return ended;
};

/** Settings of the command. Others, such as TMPDIR, belong to the process. */
const isOfCommand = (name: string): boolean => /^(HALYARD_|DATABASE_URL$|PORT$|HOST$)/.test(name);

/** As runHalyard; with settings of the process, it is that. */
export const runInThread = (
  args: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Ended> =>
  Object.keys(settings).every(isOfCommand)
    ? runOn(idle.pop() ?? startHost(), { args, environment: environmentOf(settings) })
    : runHalyard(args, settings);
