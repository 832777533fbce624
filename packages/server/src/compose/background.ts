// What an instance does beside answering: it delivers events, and continues what was begun.
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { connectTimeout } from "../delivery/guarded-connect.ts";
import { startPacer } from "../delivery/pacer.ts";
import { createSender } from "../delivery/send.ts";
import { startWorker } from "../delivery/worker.ts";
import type { Clock, LookUp, Store } from "../ports.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import { version } from "../version.ts";
import { random } from "./operator.ts";
import { lookUpWithin } from "./resolve-name.ts";

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
export type Paced = readonly [name: string, work: Parameters<typeof startPacer>[0]];

export const startBackground = (
  { config, log, clock, lookUp, deliveryTimeout, store, telemetry, opened }: BackgroundDependencies,
  paced: readonly Paced[],
): void => {
  const sender = createSender({
    callbacks: config.callbacks,
    userAgent: `Halyard/${version}`,
    lookUp: lookUpWithin(connectTimeout, lookUp),
    timeout: deliveryTimeout,
  });
  opened.defer(() => sender.close());
  const worker = startWorker({
    outbox: store.outbox,
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
  for (const [name, work] of paced) {
    const pacer = startPacer(work, name, log);
    opened.defer(() => pacer.close());
  }
};
