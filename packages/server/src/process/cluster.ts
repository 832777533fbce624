// Several instances behind one port of one machine: the primary process starts workers, replaces those that die, stops all.
import cluster, { type Worker } from "node:cluster";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import { composeOperator } from "../compose/operator.ts";
import type { Config } from "../config/config.ts";
import { StartupProblem } from "../errors.ts";
import { endOf } from "./cluster-handover.ts";
import { type Order, type Report, stopPatience } from "./cluster-messages.ts";
import { createScrapeRounds } from "./cluster-scrapes.ts";
import { dashboardAddress, makeFirstKeys } from "./first-keys.ts";
import type { Server } from "./listening.ts";
import { createLog } from "./log.ts";

/** A worker that lived shorter died young. */
const grownUp = 10_000;
/** So many that died young in a row are replaced at once. */
const tolerated = 2;
const firstPause = 500;
const longestPause = 30_000;

/** Milliseconds until the next try, after so many workers in a row that died young. */
export const replacementPause = (youngDeaths: number): number =>
  youngDeaths <= tolerated
    ? 0
    : Math.min(longestPause, firstPause * 2 ** (youngDeaths - tolerated - 1));

export const startCluster = async (config: Config): Promise<Server> => {
  if (!cluster.isPrimary) {
    throw new StartupProblem(
      "This process is itself a worker of another program: set HALYARD_WORKERS to 1 and let that program start as many as it should.",
    );
  }
  const log = createLog(config);
  // Opened before the workers, so that they find the schema up to date.
  const operator = await composeOperator(config);
  const workers = startWorkers(config, log);
  try {
    // Listening comes first: keys are shown once, so they are not to be made by a start that then fails.
    const url = await workers.up;
    const firstKeys = await makeFirstKeys(config, operator, log);
    const dashboard = await dashboardAddress(config, operator.signInLinks, url);
    return { url, firstKeys, dashboard, close: () => workers.close() };
  } catch (error) {
    await workers.close();
    throw error;
  } finally {
    await operator.close();
  }
};

const startWorkers = (config: Config, log: Logger) => {
  // Node's own settings for the process could choose the other way, which loads the workers unevenly.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({
    exec: fileURLToPath(new URL("./cluster-worker.ts", import.meta.url)),
    args: [],
    serialization: "advanced",
  });
  const { promise: up, resolve, reject } = Promise.withResolvers<string>();
  const live = new Map<Worker, Promise<void>>();
  /** Those of them that answer. */
  const serving = new Set<Worker>();
  const scrapeRounds = createScrapeRounds(() => serving, tell);
  const pauses = new Set<NodeJS.Timeout>();
  let upCount = 0;
  /** Known as soon as all are up for the first time. */
  let url: string | undefined;
  /** A port that the system chose is gone with the last worker: from then on it is asked for by its number. */
  let port = config.port;
  let stopping = false;

  const launch = (youngDeaths: number): void => {
    if (url !== undefined && live.size === 0) port = config.port || Number(new URL(url).port);
    const worker = cluster.fork();
    const who = { worker: worker.id, pid: worker.process.pid };
    const bornAt = performance.now();
    let problem: Error | undefined;
    worker.on("error", (error) => {
      problem ??= error;
    });
    worker.on("message", (report: Report) => {
      if (report.kind === "failed") {
        problem = problemOf(report);
        return;
      }
      if (report.kind !== "up") {
        scrapeRounds.hear(worker, report);
        return;
      }
      if (url !== undefined && report.url !== url) {
        // The last one went while it started, and nobody would find it there.
        port = config.port || Number(new URL(url).port);
        worker.process.kill("SIGKILL");
        return;
      }
      log.info(who, "a worker is up");
      serving.add(worker);
      upCount += 1;
      if (upCount === config.workers) {
        url = report.url;
        resolve(url);
      }
    });
    tell(worker, { kind: "start", config: { ...config, port } });

    live.set(
      worker,
      endOf(worker).then(({ code, signal }) => {
        live.delete(worker);
        serving.delete(worker);
        scrapeRounds.gone(worker);
        if (stopping) return;
        if (url === undefined) {
          // Of those that start together the first one that cannot tells why; the others have the same reason.
          reject(problem ?? new Error(`A worker ended (${signal ?? code}) before it was up`));
          return;
        }
        const young = performance.now() - bornAt < grownUp ? youngDeaths + 1 : 0;
        const pause = replacementPause(young);
        log.error(
          { ...who, code, signal, reason: problem?.message, pause },
          "a worker ended; another takes its place",
        );
        const waiting = setTimeout(() => {
          pauses.delete(waiting);
          launch(young);
        }, pause);
        pauses.add(waiting);
      }),
    );
  };

  const killAll = (): void => {
    for (const worker of live.keys()) worker.process.kill("SIGKILL");
  };
  // Whatever ends this process before its time, a second signal for instance, ends the workers with it.
  process.once("exit", killAll);
  for (let count = 0; count < config.workers; count += 1) launch(0);

  return {
    up,
    async close(): Promise<void> {
      stopping = true;
      for (const waiting of pauses) clearTimeout(waiting);
      for (const worker of live.keys()) tell(worker, { kind: "stop" });
      const patienceEnds = setTimeout(killAll, stopPatience + config.shutdownDelay);
      await Promise.all(live.values());
      clearTimeout(patienceEnds);
      process.off("exit", killAll);
    },
  };
};

/** One that cannot be told has died, and its end says the rest. */
const tell = (worker: Worker, order: Order): void => {
  worker.send(order, () => {});
};

const problemOf = ({ message, trace, foreseen }: Report & { kind: "failed" }): Error =>
  foreseen
    ? new StartupProblem(message)
    : Object.assign(new Error(message), trace !== undefined && { stack: trace });
