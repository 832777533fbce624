// What is in memory and follows the store.

import { hkdfSync } from "node:crypto";
import type { Logger } from "pino";
import { startChangeFeed } from "../evaluation/change-feed.ts";
import type { SamplePart } from "../evaluation/context-sample.ts";
import { createContextSample } from "../evaluation/context-sample-windows.ts";
import { createFlagdDefinitions } from "../evaluation/flagd/definitions.ts";
import { createLongEvaluations } from "../evaluation/long-evaluations.ts";
import { createSnapshots, followSnapshots } from "../evaluation/snapshots.ts";
import { createUsage } from "../evaluation/usage/counters.ts";
import { createEvaluationErrors } from "../evaluation/usage/failed-evaluations.ts";
import { secretKeysOf } from "../operator/operator.ts";
import { createKeyTable } from "../platform/auth/key-table.ts";
import { createKeyUse } from "../platform/auth/key-use.ts";
import { createQueue, createRunInSlices } from "../platform/background/slices.ts";
import type { Replica } from "../platform/database/replica.ts";
import type { Clock, Store } from "../platform/database/store.ts";
import type { Config } from "../process/settings/config.ts";

/** A key for this purpose alone. Every instance has the same, so that their samples merge. */
const sampleSecret = (secretKey: Uint8Array): string =>
  Buffer.from(hkdfSync("sha256", secretKey, "", "halyard context sample", 16)).toString("hex");

/** Every instance has the same, so that the same preview is rounded alike on all of them. */
export const previewSecret = (secretKey: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", secretKey, "", "halyard preview rounding", 32));

export const composeMemory = async (
  store: Store,
  config: Config,
  clock: Clock,
  log: Logger,
  opened: AsyncDisposableStack,
  replicas: readonly Replica[],
  sampleParts: ((environmentId: number) => Promise<readonly SamplePart[]>) | undefined,
) => {
  const contextSample = createContextSample({
    size: config.sampledContexts,
    secret: sampleSecret(secretKeysOf(config)[0]),
    clock,
    parts: sampleParts,
  });
  opened.defer(() => contextSample.close());
  const usage = createUsage(store, clock, (err) => {
    log.warn({ err }, "the counts of evaluations could not be stored; they are kept in memory");
  });
  opened.defer(() => usage.close());
  const snapshots = createSnapshots(usage.counters, (id) => contextSample.forget(id));
  const evaluationErrors = createEvaluationErrors(store, snapshots, clock, (err) => {
    log.warn(
      { err },
      "the counts of failed evaluations could not be stored; they are kept in memory",
    );
  });
  opened.defer(() => evaluationErrors.close());
  const keyTable = createKeyTable(store, clock, config);
  const feed = await startChangeFeed(
    store,
    [...replicas, followSnapshots(store, snapshots), keyTable],
    {
      onLost: (err) => {
        log.error({ err }, "the store cannot be read; evaluation continues with what is in memory");
      },
      onFound: () => log.info("the store can be read again"),
    },
  );
  opened.defer(() => feed.close());
  const keyUse = createKeyUse(keyTable, store, clock, (err) => {
    log.warn({ err }, "the use of keys could not be stored");
  });
  opened.defer(() => keyUse.close());
  const runInSlices = createRunInSlices(() => performance.now());
  return {
    ...{ snapshots, keyTable, feed, usage, keyUse, contextSample, evaluationErrors },
    /** Runs long work in slices, so that it doesn't hold up requests. */
    long: {
      previews: { runInSlices, queue: createQueue() },
      longEvaluations: createLongEvaluations(runInSlices),
      flagdDefinitions: createFlagdDefinitions(runInSlices),
    },
  };
};
