// Publishes what this instance and its clients have, for the instances that are asked: soon after a change, and as a heartbeat.
import { setTimeout as pause } from "node:timers/promises";
import { disconnectTimeout } from "../../evaluation/clients/limits.ts";
import type { InstanceInfo, StoredInstance } from "../../evaluation/clients/report.ts";
import type { Clock, Store } from "../../platform/database/store.ts";
import { type InstanceReport, writeBody } from "./instance-body.ts";
import { deleteInstances, listInstances, saveInstance, touchInstance } from "./queries.ts";
import { lostAfter } from "./rules.ts";

/** Milliseconds between two heartbeats: two may be late before it counts as lost. */
const heartbeat = 2_500;
/** So that most clients have told before the first write after a change. */
const firstDelay = 50;
/** Between two writes, and more for each KiB: a large one is written less often. */
const minimumPause = 250;
const pausePerKibibyte = 2;
/** What clients did meanwhile is written at least so often. */
const maximumAge = disconnectTimeout / 2;
/** Instances without a heartbeat for so long are forgotten. */
const forgottenAfter = 600_000;
const lastWriteTimeout = 2_000;

export interface Publisher {
  /** Something has changed. */
  readonly changed: () => void;
  /** The other instances. */
  others(): Promise<readonly StoredInstance[]>;
  close(): Promise<void>;
}

/** For the only process on its store: nobody else is to know anything. */
export const alone: Publisher = {
  changed: () => {},
  others: async () => [],
  close: async () => {},
};

export const startPublisher = (
  store: Pick<Store, "background" | "transactAsyncCommit">,
  self: InstanceInfo,
  report: (hasEnded: boolean) => InstanceReport,
  { clock, failed }: { readonly clock: Clock; readonly failed: (error: unknown) => void },
): Publisher => {
  let hasChanged = true;
  let isClosed = false;
  let writtenAt = 0;
  let between = 0;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isRunning = false;
  let hasFailed = false;

  const write = async (hasEnded: boolean): Promise<void> => {
    hasChanged = false;
    const body = writeBody(report(hasEnded));
    writtenAt = performance.now();
    between = minimumPause + (body.length / 1_024) * pausePerKibibyte;
    await store.transactAsyncCommit((db) => saveInstance(db, self, clock().getTime(), body));
  };

  /** Never rejects. One at a time: a store that does not answer must not collect them. */
  const run = (work: () => Promise<void>): Promise<void> => {
    if (isRunning) return running;
    isRunning = true;
    running = work()
      .then(
        () => {
          hasFailed = false;
        },
        (error: unknown) => {
          hasChanged = true;
          if (!hasFailed) failed(error);
          hasFailed = true;
        },
      )
      .finally(() => {
        isRunning = false;
        if (hasChanged && !hasFailed) schedule();
      });
    return running;
  };

  const schedule = (): void => {
    if (timer !== undefined || isRunning || isClosed) return;
    const wait = Math.max(firstDelay, writtenAt + between - performance.now());
    timer = setTimeout(() => {
      timer = undefined;
      if (!isClosed && hasChanged) void run(() => write(false));
    }, wait).unref();
  };

  const touch = (): Promise<boolean> =>
    store.transactAsyncCommit((db) => touchInstance(db, self.id, clock().getTime()));

  const beat = async (): Promise<void> => {
    const isOld = performance.now() - writtenAt > maximumAge;
    if (hasChanged || isOld || !(await touch())) await write(false);
  };

  const forget = (silentFor: number, name?: string): Promise<void> =>
    store.transactAsyncCommit((db) => deleteInstances(db, silentFor, name));

  // It takes the place of one of its name that was killed.
  void run(async () => {
    await forget(lostAfter, self.name);
    await forget(forgottenAfter);
    await write(false);
  });
  const beats = setInterval(() => void run(beat), heartbeat).unref();
  const cleanings = setInterval(
    () => void run(() => forget(forgottenAfter)),
    forgottenAfter / 10,
  ).unref();

  return {
    changed() {
      hasChanged = true;
      schedule();
    },
    others: async () => (await listInstances(store.background)).filter(({ id }) => id !== self.id),
    async close() {
      isClosed = true;
      clearInterval(beats);
      clearInterval(cleanings);
      clearTimeout(timer);
      // A store that does not answer is not to hold up the end.
      const tooLong = pause(lastWriteTimeout, undefined, { ref: false });
      await Promise.race([running.then(() => run(() => write(true))), tooLong]);
    },
  };
};
