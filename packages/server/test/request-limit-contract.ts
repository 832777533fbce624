// What every store must do when many requests wait for it: called once for each store.
import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreUnavailable } from "@halyard/server/errors";
import { updateKeyUse } from "../src/platform/auth/key-queries.ts";
import { listEnvironments } from "../src/platform/environments.ts";
import type { OpenedStore } from "./store-contract.ts";
import { at } from "./support/store-steps.ts";

export interface WaitingTraits {
  /** Transactions that run before others wait; SQLite counts those among the waiting. */
  readonly atOnce: number;
  readonly readsWait: boolean;
}

const isCrowded = (error: unknown) => error instanceof StoreUnavailable && error.isCrowded;

export const requestLimitContract = (
  name: string,
  open: () => Promise<OpenedStore>,
  { atOnce, readsWait }: WaitingTraits,
): void => {
  test(`${name}: when as many requests wait as may, the next is refused at once; background work is not`, async (t) => {
    const opened = await open();
    const store = await opened.again(3);
    t.after(async () => {
      await store.close();
      await opened.remove();
    });
    const { promise: blocked, resolve: release } = Promise.withResolvers<void>();
    const accepted = Array.from({ length: atOnce + 3 }, () => store.transact(() => blocked));
    await assert.rejects(
      store.transact(async () => undefined),
      isCrowded,
    );
    if (readsWait) await assert.rejects(listEnvironments(store), isCrowded);
    else await listEnvironments(store);
    // The change feed reads; usage, keys and deliveries wait for their turn.
    await store.positions();
    const background = store.transactAsyncCommit((db) => updateKeyUse(db, ["nobody"], at));
    release();
    await Promise.all([...accepted, background]);
    await store.transact(async () => undefined);
  });
};
