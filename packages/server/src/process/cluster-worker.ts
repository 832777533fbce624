// A worker of the cluster: one instance, started and stopped by the word of the primary process.
import cluster from "node:cluster";
import type { Config } from "../config.ts";
import { StartupProblem, StoreUnavailable } from "../errors.ts";
import { createLog } from "../log.ts";
import { type Order, type Report, stopPatience } from "./cluster-messages.ts";
import { openListening } from "./listening.ts";

const { promise: ordered, resolve: start } = Promise.withResolvers<Config>();
const { promise: stopped, resolve: stop } = Promise.withResolvers<undefined>();
process.on("message", (order: Order) => {
  if (order.kind === "start") start(order.config);
  else stop(undefined);
});
// A terminal sends it to all of its processes: the primary has heard it too, and gives the word.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => stop(undefined));
process.on("disconnect", () => {
  setTimeout(() => process.exit(1), stopPatience).unref();
  stop(undefined);
});
// When the primary is gone, Node would end the worker at once, with what it is just answering.
if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;

const report = (told: Report): Promise<void> =>
  new Promise((resolve) => {
    // A primary that cannot be told is gone, and `disconnect` says so.
    if (process.connected) process.send?.(told, () => resolve());
    else resolve();
  });

const serve = async (config: Config): Promise<void> => {
  const log = createLog(config.logLevel, { worker: cluster.worker?.id, pid: process.pid });
  const { instance, url } = await openListening(config, log);
  await report({ kind: "up", url });
  await stopped;
  await instance.close();
};

try {
  const config = await Promise.race([ordered, stopped]);
  if (config) await serve(config);
} catch (error) {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const foreseen = error instanceof StartupProblem || error instanceof StoreUnavailable;
  await report({ kind: "failed", message, trace: stack, foreseen });
  process.exitCode = 1;
}
if (process.connected) process.disconnect?.();
