// Several instances behind one port of one machine: the primary process starts workers, replaces those that end, stops all.
import cluster, { type Worker } from "node:cluster";
import type { Logger } from "pino";
import { workerFile } from "../installation.ts";
import { composeOperator, processesThatFit } from "../operator/operator.ts";
import { StartupProblem } from "../platform/errors.ts";
import { type Order, type Report, workerStopTimeout } from "./cluster-messages.ts";
import { createQuestionRounds } from "./cluster-questions.ts";
import { dashboardAddress, makeFirstKeys } from "./first-keys.ts";
import type { Server } from "./listening.ts";
import { createLog } from "./log.ts";
import { flagdPort, type PortSettings, reservePort } from "./port.ts";
import type { Config } from "./settings/config.ts";

/** Milliseconds: a worker that ends sooner counts as an early exit. */
const earlyExitLimit = 10_000;
/** So many early exits in a row are replaced at once. */
const toleratedEarlyExits = 2;
const firstPause = 500;
const longestPause = 30_000;

/** Milliseconds until the next start, after so many early exits in a row. */
export const replacementPause = (earlyExits: number): number =>
  earlyExits <= toleratedEarlyExits
    ? 0
    : Math.min(longestPause, firstPause * 2 ** (earlyExits - toleratedEarlyExits - 1));

export const startCluster = async (config: Config): Promise<Server> => {
  if (!cluster.isPrimary) {
    throw new StartupProblem(
      "This process is itself a worker of another program: set HALYARD_WORKERS to 1 and let that program start as many as it should.",
    );
  }
  const log = createLog(config);
  // Opened before the workers, so that they find the schema up to date.
  const operator = await composeOperator(config);
  try {
    const count = await countWorkers(config, log);
    using ports = await reservePorts(config);
    const workers = startWorkers({ ...config, ...ports.reserved, workers: count }, log);
    try {
      // Keys are shown only once: the workers listen first, so that no start that fails has created any.
      const url = await workers.up;
      const firstKeys = await makeFirstKeys(config, operator, log);
      const dashboard = await dashboardAddress(config, operator.signInLinks, url);
      return { url, firstKeys, dashboard, close: () => workers.close() };
    } catch (error) {
      await workers.close();
      throw error;
    }
  } finally {
    await operator.close();
  }
};

/** Kept until the workers listen. */
const reservePorts = async (config: Config) => {
  const kept = new DisposableStack();
  const reserve = async (wanted: PortSettings): Promise<number> => {
    const reserved = await reservePort(wanted);
    kept.defer(() => reserved.release());
    return reserved.port;
  };
  try {
    const port = await reserve(config);
    const { flagd } = config;
    const reserved = {
      port,
      flagd: flagd && { ...flagd, port: await reserve(flagdPort(config, flagd)) },
    };
    return { reserved, [Symbol.dispose]: () => kept.dispose() };
  } catch (error) {
    kept.dispose();
    throw error;
  }
};

/** A number that the operator has chosen is theirs to answer for. */
const countWorkers = async (config: Config, log: Logger): Promise<number> => {
  if (!config.autoWorkers) return config.workers;
  const count = Math.max(1, Math.min(config.workers, await processesThatFit(config)));
  if (count < config.workers) {
    log.warn(
      { workers: count, cores: config.workers },
      "fewer workers than cores: PostgreSQL has no connections for more; raise its max_connections, or lower HALYARD_POOL_SIZE",
    );
  }
  return count;
};

const startWorkers = (config: Config, log: Logger) => {
  // For systems that do not balance: NODE_CLUSTER_SCHED_POLICY could choose the other way, which loads the workers unevenly.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({
    exec: workerFile,
    args: [],
    serialization: "advanced",
  });
  const { promise: up, resolve, reject } = Promise.withResolvers<string>();
  const running = new Map<Worker, Promise<void>>();
  /** Those that listen. */
  const serving = new Set<Worker>();
  const questionRounds = createQuestionRounds(() => serving, send);
  const pauses = new Set<NodeJS.Timeout>();
  let started = false;
  let stopping = false;

  const launch = (number: number, earlyExits: number): void => {
    const worker = cluster.fork();
    const who = { worker: worker.id, pid: worker.process.pid };
    const startedAt = performance.now();
    let problem: Error | undefined;
    worker.on("error", (error) => {
      problem ??= error;
    });
    worker.on("message", (report: Report) => {
      if (report.kind === "failed") {
        problem = problemOf(report);
      } else if (report.kind === "up") {
        log.info(who, "a worker is up");
        serving.add(worker);
        if (serving.size === config.workers) {
          started = true;
          resolve(report.url);
        }
      } else {
        questionRounds.receive(worker, report);
      }
    });
    send(worker, { kind: "start", config, number });

    const onEnd = ({ code, signal }: End): void => {
      running.delete(worker);
      serving.delete(worker);
      questionRounds.remove(worker);
      if (stopping) return;
      if (!started) {
        // The first one that cannot start says why; the others have the same reason.
        reject(problem ?? new Error(`A worker ended (${signal ?? code}) before it was up`));
        return;
      }
      const early = performance.now() - startedAt < earlyExitLimit ? earlyExits + 1 : 0;
      const pause = replacementPause(early);
      log.error(
        { ...who, code, signal, reason: problem?.message, pause },
        "a worker ended; another takes its place",
      );
      const waiting = setTimeout(() => {
        pauses.delete(waiting);
        launch(number, early);
      }, pause);
      pauses.add(waiting);
    };
    running.set(worker, endOf(worker).then(onEnd));
  };

  const killAll = (): void => {
    for (const worker of running.keys()) worker.process.kill("SIGKILL");
  };
  // Whatever ends this process early, a second signal for example, ends the workers with it.
  process.once("exit", killAll);
  for (let number = 1; number <= config.workers; number += 1) launch(number, 0);

  return {
    /** The address, once all workers listen. */
    up,
    async close(): Promise<void> {
      stopping = true;
      for (const waiting of pauses) clearTimeout(waiting);
      for (const worker of running.keys()) send(worker, { kind: "stop" });
      const timeout = setTimeout(() => {
        const workers = Array.from(running.keys(), ({ id }) => id);
        log.warn({ workers }, "workers did not stop in time and are killed");
        killAll();
      }, workerStopTimeout + config.shutdownDelay);
      await Promise.all(running.values());
      clearTimeout(timeout);
      process.off("exit", killAll);
    },
  };
};

interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Resolves when the process has ended and its last message has arrived. */
const endOf = ({ process: child }: Worker): Promise<End> =>
  new Promise((resolve) => {
    child.once("close", (code: number | null, signal: NodeJS.Signals | null) =>
      resolve({ code, signal }),
    );
    // A process that could not be started neither exits nor closes.
    child.once("error", () => {
      if (child.pid === undefined) resolve({ code: null, signal: null });
    });
  });

/** A worker that cannot be reached has ended, and its end is handled. */
const send = (worker: Worker, order: Order): void => {
  worker.send(order, () => {});
};

const problemOf = ({ message, trace, isOperatorError }: Report & { kind: "failed" }): Error =>
  isOperatorError
    ? new StartupProblem(message)
    : Object.assign(new Error(message), trace !== undefined && { stack: trace });
