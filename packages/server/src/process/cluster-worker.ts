// A worker of the cluster: one instance that the primary process starts and stops.
import cluster from "node:cluster";
import type { SamplePart } from "../evaluation/context-sample.ts";

import { StartupProblem, StoreUnavailable } from "../platform/errors.ts";
import type { Scrape } from "../platform/telemetry/exposition.ts";
import type { Instance, InstanceOptions } from "../server/instance.ts";
import { type Order, type Question, type Report, workerStopTimeout } from "./cluster-messages.ts";
import { createQuestions } from "./cluster-questions.ts";
import { openListening } from "./listening.ts";
import { createLog } from "./log.ts";
import { systemBalancesConnections } from "./port.ts";
import { stopWithin } from "./stop-within.ts";

type StartOrder = Extract<Order, { kind: "start" }>;

const { promise: ordered, resolve: start } = Promise.withResolvers<StartOrder>();
const { promise: stopped, resolve: stop } = Promise.withResolvers<undefined>();
let instance: Instance | undefined;
/** Milliseconds for which it continues to serve after it was asked to stop. */
let delay = 0;
process.on("message", (order: Order) => {
  switch (order.kind) {
    case "start":
      return start(order);
    case "stop":
      return stop(undefined);
    case "answers":
      return questions.receive(order);
    case "ask":
      // The primary notices an answer that does not come.
      answer(order.round, order.question).catch(() => undefined);
  }
});
// A terminal sends it to all of its processes: the primary got it too, and orders the stop.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => stop(undefined));
/** Only while something else keeps the process alive. */
const exitSoon = (): void => {
  setTimeout(() => process.exit(1), workerStopTimeout).unref();
};
process.on("disconnect", () => {
  // The primary was killed. A new one can start only when the port is free, so it is released without delay.
  delay = 0;
  exitSoon();
  stop(undefined);
});
// Without it, Node ends a worker as soon as the primary is gone, in the middle of its answers.
if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;

const report = (message: Report): Promise<void> =>
  new Promise((resolve) => {
    // If the primary is gone, `disconnect` is emitted as well.
    if (process.connected) process.send?.(message, () => resolve());
    else resolve();
  });

const questions = createQuestions(report);

const answer = async (round: number, question: Question): Promise<void> => {
  if (!instance) return;
  const given =
    question.about === "metrics"
      ? await instance.scrape()
      : instance.samplePart(question.environmentId);
  await report({ kind: "answer", round, answer: given });
};

const options: InstanceOptions = {
  /** A sum without one of the workers would look like a counter reset, so none is given. */
  async scrapes() {
    const { answers, isComplete } = await questions.askAll({ about: "metrics" });
    return isComplete ? (answers as readonly Scrape[]) : undefined;
  },
  /** The contexts of some of them are a sample too. */
  async sampleParts(environmentId) {
    const { answers } = await questions.askAll({ about: "contexts", environmentId });
    return answers.filter((part) => part !== undefined) as SamplePart[];
  },
};

const serve = async ({ config, number }: StartOrder): Promise<void> => {
  delay = config.shutdownDelay;
  const log = createLog(config, { worker: cluster.worker?.id, pid: process.pid });
  const listening = await openListening(
    config,
    log,
    { ...options, worker: number },
    systemBalancesConnections,
  );
  instance = listening.instance;
  await report({ kind: "up", url: listening.url });
  await stopped;
  await stopWithin(config, log, () => listening.instance.close(delay));
};

try {
  const order = await Promise.race([ordered, stopped]);
  if (order) await serve(order);
} catch (error) {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const isOperatorError = error instanceof StartupProblem || error instanceof StoreUnavailable;
  await report({ kind: "failed", message, trace: stack, isOperatorError });
  process.exitCode = 1;
}
// It ends when nothing is left to do. `disconnect` would never end while a message is only half read, and nor would the process.
process.channel?.unref();
exitSoon();
