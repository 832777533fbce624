// What an instance does beside answering: it delivers events, and continues what was begun.
import type { Logger } from "pino";
import { lookUpWithin } from "../features/webhooks/resolve-name.ts";
import { connectTimeout } from "../features/webhooks/sending/guarded-connect.ts";
import { runBatch } from "../features/webhooks/sending/run-batch.ts";
import { createSender } from "../features/webhooks/sending/send.ts";
import { startWorker } from "../features/webhooks/sending/worker.ts";
import { random } from "../operator/operator.ts";
import { startPacer } from "../platform/background/pacer.ts";
import type { Clock, LookUp, Store } from "../platform/database/store.ts";
import type { Telemetry } from "../platform/telemetry/telemetry.ts";
import type { Config } from "../process/settings/config.ts";
import { version } from "../version.ts";
import { createPrune } from "./retention.ts";

const monotonic = () => performance.now();

export interface BackgroundDependencies {
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly lookUp: LookUp;
  readonly deliveryTimeout: number | undefined;
  readonly store: Store;
  readonly telemetry: Telemetry;
  /** Takes what is to be closed. */
  readonly opened: AsyncDisposableStack;
}

/** What is done in small parts: its name in the log, and a part of it, which tells whether there is more. */
export type BackgroundTask = readonly [name: string, work: Parameters<typeof startPacer>[0]];

export const startBackground = (
  { config, log, clock, lookUp, deliveryTimeout, store, telemetry, opened }: BackgroundDependencies,
  tasks: readonly BackgroundTask[],
): void => {
  const sender = createSender({
    callbacks: config.callbacks,
    userAgent: `Halyard/${version}`,
    lookUp: lookUpWithin(connectTimeout, lookUp),
    timeout: deliveryTimeout,
  });
  opened.defer(() => sender.close());
  const worker = startWorker({
    store,
    runBatch: telemetry.runBatch((batch) => runBatch(store, batch)),
    prune: createPrune(store),
    sender: { send: telemetry.send(sender.send), abort: () => sender.abort() },
    clock,
    monotonic,
    random,
    serviceName: config.serviceName,
    publicUrl: config.publicUrl,
    historyRetention: config.historyRetention,
    log,
  });
  opened.defer(() => worker.close());
  for (const [name, work] of tasks) {
    const pacer = startPacer(work, name, log);
    opened.defer(() => pacer.close());
  }
};
