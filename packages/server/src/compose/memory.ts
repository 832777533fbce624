// What is in memory and follows the store.
import type { Logger } from "pino";
import { createKeyTable } from "../access/key-table.ts";
import { createKeyUse } from "../access/key-use.ts";
import type { Config } from "../config/config.ts";
import { startChangeFeed } from "../evaluation/change-feed.ts";
import { createSnapshots, followSnapshots } from "../evaluation/snapshots.ts";
import { createUsage } from "../evaluation/usage.ts";
import type { Clock, Store } from "../ports.ts";

export const composeMemory = async (
  store: Store,
  config: Pick<Config, "eventEmails">,
  clock: Clock,
  log: Logger,
  opened: AsyncDisposableStack,
) => {
  const usage = createUsage(store, clock, (err) => {
    log.warn({ err }, "the counts of evaluations could not be stored; they are kept in memory");
  });
  opened.defer(() => usage.close());
  const snapshots = createSnapshots(usage.counters);
  const keyTable = createKeyTable(store, clock, config);
  const feed = await startChangeFeed(store, [followSnapshots(store, snapshots), keyTable], {
    onLost: (err) => {
      log.error({ err }, "the store cannot be read; evaluation continues with what is in memory");
    },
    onFound: () => log.info("the store can be read again"),
  });
  opened.defer(() => feed.close());
  const keyUse = createKeyUse(keyTable, store, clock, (err) => {
    log.warn({ err }, "the use of keys could not be stored");
  });
  opened.defer(() => keyUse.close());
  return { snapshots, keyTable, feed, usage, keyUse };
};
