// A thread that runs the command repeatedly: the main file is loaded anew for each run, its imports only once.
import { parentPort, workerData } from "node:worker_threads";
import type { Ended } from "../../../server/test/support/halyard-process.ts";

export interface Run {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const { file } = workerData as { readonly file: string };
let runs = 0;

const printed = { stdout: "", stderr: "" };
for (const name of ["stdout", "stderr"] as const) {
  process[name]._writev = (chunks, callback) => {
    for (const { chunk } of chunks) printed[name] += chunk;
    callback();
  };
}
const flush = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => stream.write("", () => resolve()));

/** The resources that keep a process alive. The ports belong to the thread. */
const isHeld = (): boolean =>
  process.getActiveResourcesInfo().some((resource) => resource !== "MessagePort");

const run = async ({ args, environment }: Run): Promise<Ended> => {
  runs += 1;
  Object.assign(printed, { stdout: "", stderr: "" });
  process.argv = [process.execPath, file, ...args];
  process.exitCode = undefined;
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  await import(`${file}?${runs}`);
  // A process would still be running.
  while (isHeld()) await new Promise((resolve) => setTimeout(resolve, 2));
  for (const stream of [process.stdout, process.stderr]) {
    await flush(stream);
    stream.removeAllListeners("error");
  }
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.removeAllListeners(signal);
  return { code: Number(process.exitCode ?? 0), signal: null, ...printed };
};

parentPort?.on("message", (wanted: Run) => {
  // An exception ends the thread, and the test receives it as an error.
  void run(wanted).then((ended) => parentPort?.postMessage(ended));
});
