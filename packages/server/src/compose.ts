// The composition root: the only file that knows every room. What it opens, its close() shuts in reverse order.
import { fileURLToPath } from "node:url";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import { newIds, openStore, random, secretKeysOf, systemClock } from "./compose-operator.ts";
import type { Config } from "./config.ts";
import { connectTimeout } from "./delivery/guarded-connect.ts";
import { createSender } from "./delivery/send.ts";
import { startWorker } from "./delivery/worker.ts";
import { type ChangeFeed, startChangeFeed } from "./evaluation/change-feed.ts";
import { createKeyUse, type KeyUse } from "./evaluation/key-use.ts";
import { createKeyring } from "./evaluation/keyring.ts";
import { createSnapshots, type Snapshots } from "./evaluation/snapshots.ts";
import { createUsage, type Usage } from "./evaluation/usage.ts";
import { createUsageReport } from "./evaluation/usage-report.ts";
import { createApp } from "./http/app.ts";
import { loadDashboard } from "./http/dashboard-files.ts";
import type { StreamSettings } from "./http/event-streams.ts";
import { createEventTokens } from "./http/event-token.ts";
import { createSessionCookies } from "./http/session-cookie.ts";
import { createApiKeys, hashKey } from "./management/api-keys.ts";
import { createDeliveries } from "./management/deliveries.ts";
import { createEnvironments, type Environments } from "./management/environments.ts";
import { createFlags } from "./management/flags.ts";
import { createHistory } from "./management/history.ts";
import { createSignInLinks, type SignInLinks } from "./management/sign-in-links.ts";
import { createWebhooks } from "./management/webhooks.ts";
import type { Clock, LookUp, Store } from "./ports.ts";
import { lookUpWithin, systemLookUp } from "./resolve-name.ts";
import { version } from "./version.ts";

/** A name that does not resolve so soon is registered all the same. */
const registrationPatience = 1_000;
const streamSettings = { heartbeat: 15_000, maxUnsent: 1_048_576 } as const;
const builtDashboard = fileURLToPath(new URL("../../dashboard/dist", import.meta.url));
const monotonic = () => performance.now();

export interface Instance {
  readonly app: FastifyInstance;
  readonly environments: Environments;
  readonly signInLinks: SignInLinks;
  /** Webhooks whose secret was encrypted with a key that is not here. */
  readonly unreadableSecrets: () => Promise<readonly string[]>;
  close(): Promise<void>;
}

/** What of the world a test may put in the place of the real thing. */
export interface World {
  readonly clock?: Clock;
  readonly lookUp?: LookUp;
  readonly streams?: Partial<StreamSettings>;
  /** Where the built dashboard lies. */
  readonly dashboardFolder?: string;
}

export const composeInstance = async (
  config: Config,
  log: Logger,
  {
    clock = systemClock,
    lookUp = systemLookUp,
    streams = {},
    dashboardFolder = builtDashboard,
  }: World = {},
): Promise<Instance> => {
  const store = await openStore(config);
  const issueNeeds = { clock, random, newIds };
  try {
    const keys = createApiKeys(store, issueNeeds);
    const { snapshots, feed, usage, keyUse } = await composeEvaluation(store, clock, log);
    const webhooks = createWebhooks({
      ...issueNeeds,
      store,
      lookUp: lookUpWithin(registrationPatience, lookUp),
      callbacks: config.callbacks,
    });
    const cookies = createSessionCookies(secretKeysOf(config), clock, random);
    const links = createSignInLinks(store, issueNeeds);
    const app = await createApp({
      ...config,
      log,
      flags: createFlags(store, clock, newIds),
      history: createHistory(store),
      webhooks,
      keys: {
        ...keys,
        async list(environmentId) {
          await keyUse.flush();
          return keys.list(environmentId);
        },
      },
      keyring: createKeyring(snapshots, feed, hashKey),
      snapshots,
      feed,
      usage: createUsageReport(store, snapshots, usage, clock),
      streams: { ...streamSettings, maxStreams: config.maxStreams, ...streams },
      eventTokens: createEventTokens(secretKeysOf(config), clock),
      deliveries: createDeliveries({ ...issueNeeds, store, serviceName: config.serviceName }),
      dashboard: config.dashboard
        ? { files: loadDashboard(dashboardFolder), cookies, links, clock }
        : undefined,
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
      signInLinks: links,
      unreadableSecrets: () => store.unreadableSecrets(),
      async close() {
        await app.close();
        await worker.close();
        await sender.close();
        await feed.close();
        await usage.close();
        await keyUse.close();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
};

const composeEvaluation = async (
  store: Store,
  clock: Clock,
  log: Logger,
): Promise<{ snapshots: Snapshots; feed: ChangeFeed; usage: Usage; keyUse: KeyUse }> => {
  const usage = createUsage(store, clock, (err) => {
    log.warn({ err }, "the counts of evaluations could not be written down; they are kept");
  });
  const snapshots = createSnapshots(usage.counterOf);
  const feed = await startChangeFeed(store, snapshots, {
    lost: (err) => {
      log.error({ err }, "the store cannot be followed; evaluation goes on with what is in memory");
    },
    found: () => log.info("the store can be followed again"),
  });
  const keyUse = createKeyUse(snapshots, store, clock, (err) => {
    log.warn({ err }, "which keys were used could not be written down");
  });
  return { snapshots, feed, usage, keyUse };
};
