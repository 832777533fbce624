// A worker of the cluster: one instance, started and stopped by the word of the primary process.
import cluster from "node:cluster";
import type { Instance } from "../compose/server.ts";
import type { Config } from "../config/config.ts";
import { StartupProblem, StoreUnavailable } from "../errors.ts";
import { type Order, type Report, stopPatience } from "./cluster-messages.ts";
import { createScrapeWishes } from "./cluster-scrapes.ts";
import { openListening } from "./listening.ts";
import { createLog } from "./log.ts";
import { stopWithin } from "./stop-within.ts";

const { promise: ordered, resolve: start } = Promise.withResolvers<Config>();
const { promise: stopped, resolve: stop } = Promise.withResolvers<undefined>();
let instance: Instance | undefined;
/** Milliseconds for which it goes on serving when it is told to stop. */
let delay = 0;
process.on("message", (order: Order) => {
  switch (order.kind) {
    case "start":
      return start(order.config);
    case "stop":
      return stop(undefined);
    case "scrapes":
      return wishes.hear(order);
    case "scrape":
      // One that cannot tell is missed by the primary, which says so to whoever asked.
      tellScrape(order.round).catch(() => undefined);
  }
});
// A terminal sends it to all of its processes: the primary has heard it too, and gives the word.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => stop(undefined));
process.on("disconnect", () => {
  setTimeout(() => process.exit(1), stopPatience + delay).unref();
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

const wishes = createScrapeWishes(report);

const tellScrape = async (round: number): Promise<void> => {
  if (!instance) return;
  await report({ kind: "scrape", round, scrape: await instance.scrape() });
};

const serve = async (config: Config): Promise<void> => {
  delay = config.shutdownDelay;
  const log = createLog(config, { worker: cluster.worker?.id, pid: process.pid });
  const listening = await openListening(config, log, { scrapes: () => wishes.ask() });
  instance = listening.instance;
  await report({ kind: "up", url: listening.url });
  await stopped;
  await stopWithin(config, log, () => listening.instance.close(delay));
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
