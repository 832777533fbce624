// The composition root: the only file that knows every room. What it opens, its close() shuts in reverse order.
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { newIds, openStore, random, systemClock } from "./compose-operator.ts";
import type { Config } from "./config.ts";
import { connectTimeout } from "./delivery/guarded-connect.ts";
import { createSender } from "./delivery/send.ts";
import { startWorker } from "./delivery/worker.ts";
import { createApp } from "./http/app.ts";
import { createApiKeys } from "./management/api-keys.ts";
import { createDeliveries } from "./management/deliveries.ts";
import { createEnvironments, type Environments } from "./management/environments.ts";
import { createFlags } from "./management/flags.ts";
import { createHistory } from "./management/history.ts";
import { createWebhooks } from "./management/webhooks.ts";
import type { Clock, LookUp } from "./ports.ts";
import { lookUpWithin, systemLookUp } from "./resolve-name.ts";
import { version } from "./version.ts";

/** A name that does not resolve so soon is registered all the same. */
const registrationPatience = 1_000;
const monotonic = () => performance.now();

export interface Instance {
  readonly app: FastifyInstance;
  readonly environments: Environments;
  /** Webhooks whose secret was encrypted with a key that is not here. */
  readonly unreadableSecrets: () => Promise<readonly string[]>;
  close(): Promise<void>;
}

/** What of the world a test may put in the place of the real thing. */
export interface World {
  readonly clock?: Clock;
  readonly lookUp?: LookUp;
}

export const composeInstance = async (
  config: Config,
  log: Logger,
  { clock = systemClock, lookUp = systemLookUp }: World = {},
): Promise<Instance> => {
  const store = await openStore(config);
  const issueNeeds = { clock, random, newIds };
  try {
    const webhooks = createWebhooks({
      ...issueNeeds,
      store,
      lookUp: lookUpWithin(registrationPatience, lookUp),
      callbacks: config.callbacks,
    });
    const app = await createApp({
      ...config,
      log,
      flags: createFlags(store, clock, newIds),
      history: createHistory(store),
      webhooks,
      keys: createApiKeys(store, issueNeeds),
      deliveries: createDeliveries({ ...issueNeeds, store }),
      checkReady: () => store.check(),
      now: monotonic,
    });
    const sender = createSender({
      callbacks: config.callbacks,
      userAgent: `Halyard/${version}`,
      lookUp: lookUpWithin(connectTimeout, lookUp),
    });
    const worker = startWorker({
      outbox: store.outbox,
      sender,
      clock,
      monotonic,
      random,
      serviceName: config.serviceName,
      log,
    });
    return {
      app,
      environments: createEnvironments(store, issueNeeds),
      unreadableSecrets: () => store.unreadableSecrets(),
      async close() {
        await app.close();
        await worker.close();
        await sender.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
};
