// The composition root of a server: builds everything; close() undoes it in reverse order.

import { setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import { createFlagReads } from "./evaluation/flag-reads.ts";
import { createOpenStreams } from "./evaluation/streams/open-streams.ts";
import { streamLimitsOf } from "./evaluation/streams/stream-shares.ts";
import { createChangeRequests } from "./features/change-requests/change-requests.ts";
import { createEnvironments } from "./features/environments/environments.ts";
import { createExplain } from "./features/flags/explain.ts";
import { createFlags } from "./features/flags/flags.ts";
import { createHistory } from "./features/history/history.ts";
import { createPast } from "./features/history/past.ts";
import { createAsItWas } from "./features/history/past-reads.ts";
import { createVerification } from "./features/history/verification.ts";
import { createApiKeys, hashKey } from "./features/keys/keys.ts";
import { createUsers } from "./features/people/people.ts";
import { createSignInLinks } from "./features/people/sign-in/links.ts";
import { createPasswordSignIn } from "./features/people/sign-in/password-sign-in.ts";
import { createPasswords, loadCommonPasswords } from "./features/people/sign-in/passwords.ts";
import { createProviderSignIn } from "./features/people/sign-in/provider-sign-in.ts";
import { hasPasswords } from "./features/people/sign-in/queries.ts";
import { createSecondFactors } from "./features/people/sign-in/second-factors.ts";
import { createCheckLimit } from "./features/previews/check-limit.ts";
import { createPreviewDecisions } from "./features/previews/preview.ts";
import { createPreviews } from "./features/previews/previews.ts";
import { countedFlagsPerHour, createReveal } from "./features/previews/reveal.ts";
import { createRounding } from "./features/previews/rounded-preview.ts";
import { createSegments } from "./features/segments/segments.ts";
import { createUsageReport } from "./features/usage/usage.ts";
import { createDeliveries } from "./features/webhooks/deliveries/deliveries.ts";
import { createReplays } from "./features/webhooks/deliveries/replays.ts";
import { lookUpWithin, systemLookUp } from "./features/webhooks/resolve-name.ts";
import { findBacklog } from "./features/webhooks/sending/queries.ts";
import { createWebhooks } from "./features/webhooks/webhooks.ts";
import { dashboardFolder as builtDashboard } from "./installation.ts";
import { newIds, openStore, random, secretKeysOf, systemClock } from "./operator/operator.ts";
import { createKeyCheck } from "./platform/auth/authenticate.ts";
import { networkOf } from "./platform/auth/client-network.ts";
import { createEventTokens } from "./platform/auth/event-token.ts";
import { createApiKeyCache } from "./platform/auth/key-cache.ts";
import { byNetwork, createRateLimit } from "./platform/auth/rate-limit.ts";
import { createSeal } from "./platform/auth/seal.ts";
import { createSessions } from "./platform/auth/sessions.ts";
import { findDashboard } from "./platform/http/dashboard-files.ts";
import { createOverload } from "./platform/http/load/overload.ts";
import { drain } from "./platform/http/request/drain.ts";
import { expose } from "./platform/telemetry/exposition.ts";
import { createTelemetry } from "./platform/telemetry/telemetry.ts";
import type { Config } from "./process/settings/config.ts";
import { createApp } from "./server/app.ts";
import { startBackground } from "./server/background.ts";
import { composeArrival } from "./server/clients.ts";
import { loadFlagdServer } from "./server/flagd.ts";
import { loadProviders } from "./server/identity-providers.ts";
import type { Instance, InstanceOptions } from "./server/instance.ts";
import { composeMemory, previewSecret } from "./server/memory.ts";
import { version } from "./version.ts";
import { createChanges } from "./writes/changes.ts";

/** Milliseconds: a name that resolves more slowly is registered all the same. */
const registrationTimeout = 1_000;
const streamSettings = { heartbeat: 15_000, maxUnsent: 1_048_576 } as const;
/** Milliseconds for which a sign-in is recent enough to change keys, people or environments. */
const freshFor = 900_000;
/** Milliseconds after which running requests are cut off, and for which the worker continues beside them. */
const drainTimeout = 15_000;
const workerDelay = 2_000;
const monotonic = () => performance.now();

export const composeInstance = async (
  config: Config,
  log: Logger,
  {
    clock = systemClock,
    lookUp = systemLookUp,
    deliveryTimeout,
    slowReadInterval,
    requestTimeout = 30_000,
    sendTimeout = 20_000,
    slowRequest = 1_000,
    maxWaiting = 1_000,
    streams = {},
    dashboardFolder = builtDashboard,
    scrapes,
    sampleParts,
    worker,
  }: InstanceOptions = {},
): Promise<Instance> => {
  const telemetry = await createTelemetry({
    version,
    databaseSystem: config.database.kind === "embedded" ? "sqlite" : "postgresql",
    log,
    clock,
    monotonic,
  });
  /** What is open, to be closed in reverse order, also by a start that fails. */
  const opened = new AsyncDisposableStack();
  let isLeaving = false;
  try {
    const { observe } = telemetry;
    const store = await openStore(config, { maxWaiting, observe });
    opened.defer(() => store.close());
    const sources = { clock, random, newIds };
    const overload = createOverload({ ...config, networkOf, now: monotonic, log });
    opened.defer(() => overload.close());
    const scrape = () =>
      telemetry.scrape((now) => findBacklog(store.background, now), overload.figures());
    const keys = createApiKeys(store, sources);
    const memory = await composeMemory(
      store,
      config,
      clock,
      log,
      opened,
      telemetry.follow(store),
      sampleParts,
    );
    const { snapshots, keyTable, feed, usage, keyUse, contextSample, evaluationErrors } = memory;
    const arrival = composeArrival({ config, store, clock, log, ...memory, worker, opened });
    const webhooks = createWebhooks({
      ...sources,
      store,
      lookUp: lookUpWithin(registrationTimeout, lookUp),
      callbacks: config.callbacks,
    });
    const sessions = createSessions(store, {
      ...sources,
      idleTimeout: config.sessionIdle,
      lifetime: config.sessionLifetime,
      freshFor,
    });
    const replays = createReplays(store, sources);
    const inMemory = { get: (id: number) => snapshots.get(id), current: feed.current };
    const previewDecisions = createPreviewDecisions({
      store,
      memory: inMemory,
      sample: (id) => contextSample.view(id),
      ...memory.long.previews,
    });
    const flagReads = createFlagReads(inMemory);
    const reveal = createReveal(
      createRounding(previewSecret(secretKeysOf(config)[0])),
      createRateLimit(countedFlagsPerHour, monotonic, 3_600_000),
    );
    const changes = createChanges(store, clock, newIds, createCheckLimit(previewDecisions, reveal));
    const changeRequests = createChangeRequests(store, changes, sources);
    const links = createSignInLinks(store, sources);
    const environments = createEnvironments(store, { ...sources, ...config }, changes);
    const past = createPast(store, inMemory);
    const streamLimits = {
      ...streamSettings,
      ...streamLimitsOf(config.maxConnections),
      ...streams,
    };
    const failures = byNetwork(createRateLimit(config.authFailureLimit, monotonic));
    const keyCache = createApiKeyCache({ table: keyTable, catchUp: () => feed.catchUp(), hashKey });
    /** What HTTP and gRPC have together. */
    const shared = {
      ...arrival,
      ...{ log, snapshots, keyCache, overload },
      keyCheck: createKeyCheck(keyCache, failures),
      openStreams: createOpenStreams(streamLimits, telemetry.http.streams),
      flagdDefinitions: memory.long.flagdDefinitions,
      now: monotonic,
      meter: telemetry.http,
    };
    const app = await createApp({
      ...config,
      ...shared,
      ...{ failures, slowReadInterval, requestTimeout, sendTimeout, slowRequest },
      flags: createFlags(changes),
      segments: createSegments(store, inMemory, changes),
      changeRequests,
      explain: createExplain(store, inMemory, past),
      previews: createPreviews(changes, previewDecisions, reveal),
      flagReads,
      longEvaluations: memory.long.longEvaluations,
      past: createAsItWas(past),
      history: createHistory(store, flagReads),
      verification: createVerification(store, clock),
      webhooks,
      environments,
      keys: {
        ...keys,
        async list(environment) {
          await keyUse.flush();
          return keys.list(environment);
        },
      },
      keyTable,
      users: createUsers(store, sources),
      ...{ feed, contextSample, evaluationErrors },
      usage: createUsageReport(store, snapshots, usage, clock),
      streams: streamLimits,
      eventTokens: createEventTokens(secretKeysOf(config), clock),
      deliveries: createDeliveries({
        ...sources,
        store,
        serviceName: config.serviceName,
        publicUrl: config.publicUrl,
      }),
      replays,
      dashboard: config.dashboard
        ? {
            files: findDashboard(dashboardFolder),
            ...{ sessions, links, clock },
            db: store,
            signIn: createPasswordSignIn({
              ...{ store, clock, sessions, loadCommonPasswords },
              passwords: createPasswords(random),
            }),
            secondFactors: createSecondFactors(store, { ...sources, sessions }),
            hasPasswords: () => hasPasswords(store.background),
            providers: config.providers.map(({ id, name }) => ({ id, name })),
            singleSignOn: {
              providers: await loadProviders(config, clock),
              signIn: createProviderSignIn(store, sources),
              seal: createSeal(secretKeysOf(config)),
            },
          }
        : undefined,
      mcp:
        config.mcp === "off"
          ? undefined
          : { mode: config.mcp, secrets: secretKeysOf(config), version, clock },
      readiness: { check: () => store.check(), isLeaving: () => isLeaving },
      tracing: telemetry.tracing,
      async metrics() {
        const all = scrapes ? await scrapes() : [await scrape()];
        return all && expose(all);
      },
    });
    const flagdServer = await loadFlagdServer(config.flagd, {
      ...{ ...shared, ...streamLimits, requestTimeout },
    });
    let drained: Promise<unknown> | undefined;
    const drainApp = async () => {
      drained ??= Promise.all([drain(app, drainTimeout, log), flagdServer?.close(drainTimeout)]);
      await drained;
    };
    opened.defer(drainApp);
    startBackground({ config, log, clock, lookUp, deliveryTimeout, store, telemetry, opened }, [
      ["a replay", () => replays.continueNext()],
      ["the removal of an environment", () => environments.continueNext()],
      ["a change request whose time has come", () => changeRequests.applyNext()],
    ]);
    return {
      app,
      flagdServer,
      environments,
      signInLinks: links,
      unreadableSecrets: () => store.unreadableSecrets(),
      unencryptedTo: store.unencryptedTo,
      scrape,
      samplePart: (environmentId) => contextSample.part(environmentId),
      async close(delay = 0) {
        isLeaving = true;
        if (delay > 0) await setTimeout(delay);
        // The worker sends the events of the last changes, unless the requests take too long.
        const tooLong = setTimeout(workerDelay, undefined, { ref: false });
        await Promise.race([drainApp().catch(() => undefined), tooLong]);
        await opened.disposeAsync();
      },
    };
  } catch (error) {
    // Why it could not start matters more than what cannot be closed either.
    await opened
      .disposeAsync()
      .catch((err) => log.warn({ err }, "the start failed, and not everything could be closed"));
    throw error;
  }
};
