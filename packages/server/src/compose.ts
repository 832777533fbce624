// The composition root: the only file that knows every room. What it opens, its close() shuts in reverse order.
import { randomBytes } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Config } from "./config.ts";
import { createApp } from "./http/app.ts";
import { type ApiKeys, createApiKeys } from "./management/api-keys.ts";
import { createEnvironments, type Environments } from "./management/environments.ts";
import { createFlags } from "./management/flags.ts";
import { createNewIds } from "./management/new-ids.ts";
import { createWebhooks } from "./management/webhooks.ts";
import type { Clock, RandomBytes, Store } from "./ports.ts";
import { resolveName } from "./resolve-name.ts";
import { createSecretBox } from "./store/secret-box.ts";
import { readOrMakeSecretKey } from "./store/secret-key-file.ts";
import { openSqliteStore, prepareFolder } from "./store/sqlite.ts";

const clock: Clock = () => new Date();
const random: RandomBytes = (count) => new Uint8Array(randomBytes(count));
const newIds = createNewIds(random);
const issueNeeds = { clock, random, newIds };

const openStore = (config: Config): Promise<Store> => {
  prepareFolder(config.dataFolder);
  const [newest = readOrMakeSecretKey(config.dataFolder), ...older] = config.secretKeys;
  return openSqliteStore(config.dataFolder, createSecretBox([newest, ...older]));
};

/** What the operator's commands work with, beside a running server or without one. */
export interface Operator {
  readonly environments: Environments;
  readonly keys: ApiKeys;
  close(): Promise<void>;
}

export const composeOperator = async (config: Config): Promise<Operator> => {
  const store = await openStore(config);
  return {
    environments: createEnvironments(store, issueNeeds),
    keys: createApiKeys(store, issueNeeds),
    close: () => store.close(),
  };
};

export interface Instance {
  readonly app: FastifyInstance;
  readonly environments: Environments;
  close(): Promise<void>;
}

export const composeInstance = async (config: Config, log: Logger): Promise<Instance> => {
  const store = await openStore(config);
  try {
    const webhooks = createWebhooks({
      ...issueNeeds,
      store,
      resolve: resolveName,
      callbacks: config.callbacks,
    });
    const app = await createApp({
      ...config,
      log,
      flags: createFlags(store, clock, newIds),
      webhooks,
      keys: createApiKeys(store, issueNeeds),
      checkReady: () => store.check(),
      now: () => performance.now(),
    });
    return {
      app,
      environments: createEnvironments(store, issueNeeds),
      async close() {
        await app.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
};
