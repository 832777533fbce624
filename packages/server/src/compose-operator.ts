// The part of the composition that the operator's commands need: the store and what works on it, without a server.
import { randomBytes } from "node:crypto";
import type { Config } from "./config.ts";
import { type ApiKeys, createApiKeys } from "./management/api-keys.ts";
import { createEnvironments, type Environments } from "./management/environments.ts";
import { createNewIds } from "./management/new-ids.ts";
import type { Clock, RandomBytes, Store } from "./ports.ts";
import { createSecretBox } from "./store/secret-box.ts";
import { keyRing } from "./store/secret-key-file.ts";
import { hasDatabase, openSqliteStore, prepareFolder } from "./store/sqlite.ts";

export const systemClock: Clock = () => new Date();
export const random: RandomBytes = (count) => new Uint8Array(randomBytes(count));
export const newIds = createNewIds(random);

export const openStore = (config: Config): Promise<Store> => {
  prepareFolder(config.dataFolder);
  const keys = keyRing(config.dataFolder, config.secretKeys);
  return openSqliteStore(config.dataFolder, createSecretBox(keys));
};

/** Whether a server has been started on this folder before. */
export const hasStore = ({ dataFolder }: Config): boolean => hasDatabase(dataFolder);

/** What the operator's commands work with, beside a running server or without one. */
export interface Operator {
  readonly environments: Environments;
  readonly keys: ApiKeys;
  /** Encrypts every webhook secret with the newest key; gives their number. */
  readonly reencryptSecrets: () => Promise<number>;
  close(): Promise<void>;
}

export const composeOperator = async (config: Config): Promise<Operator> => {
  const store = await openStore(config);
  const issueNeeds = { clock: systemClock, random, newIds };
  return {
    environments: createEnvironments(store, issueNeeds),
    keys: createApiKeys(store, issueNeeds),
    reencryptSecrets: () => store.reencryptSecrets(),
    close: () => store.close(),
  };
};
