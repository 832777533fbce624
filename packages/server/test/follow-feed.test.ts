// The change feed between a real store and the snapshots: what it reads, how often, and what it does with gaps.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { suite, test } from "node:test";
import { composeOperator, parseConfig } from "@halyard/server";
import { startChangeFeed } from "../src/evaluation/change-feed.ts";
import { maxRecent } from "../src/evaluation/recent-changes.ts";
import { type Applied, createSnapshots, followSnapshots } from "../src/evaluation/snapshots.ts";
import { hashKey } from "../src/features/keys/keys.ts";
import { createApiKeyCache } from "../src/platform/auth/key-cache.ts";
import { createKeyTable } from "../src/platform/auth/key-table.ts";
import type { Store } from "../src/platform/database/store.ts";
import { composeStore } from "./faults/support/composed-store.ts";
import { writeRows } from "./support/database.ts";
import { flagsOn } from "./support/store-flags.ts";
import { storeSettings } from "./support/test-store.ts";
import { until } from "./support/until.ts";

const clock = () => new Date();
const noCounter = { of: () => ({ on: 0, off: 0, results: undefined }), forget: () => undefined };

interface Calls {
  positions: number;
  changesAfter: number;
  content: number;
  keyHolders: number;
}

/** A feed on a real store that counts what is read, can be kept waiting, and hears of others' commits only when it looks. */
const startFeed = async (store: Store) => {
  const calls: Calls = { positions: 0, changesAfter: 0, content: 0, keyHolders: 0 };
  const gates = new Map<keyof Calls, Promise<void>>();
  /** What was read waits at the gate, and grows old there. */
  const watch = async <T>(name: keyof Calls, reading: Promise<T>): Promise<T> => {
    calls[name] += 1;
    const gate = gates.get(name);
    const read = await reading;
    await gate;
    return read;
  };
  const told: { revision: number; applied: Applied }[] = [];
  const lost: unknown[] = [];
  let found = 0;
  const snapshots = createSnapshots(noCounter);
  snapshots.onChange((snapshot, applied) => {
    told.push({ revision: snapshot.revision, applied });
  });
  const flags = followSnapshots(
    {
      changesAfter: (...asked) => watch("changesAfter", store.changesAfter(...asked)),
      content: (id) => watch("content", store.content(id)),
    },
    snapshots,
  );
  const keyTable = createKeyTable(
    { keyHolders: (id) => watch("keyHolders", store.keyHolders(id)) },
    () => new Date(),
  );
  const feed = await startChangeFeed(
    {
      positions: () => watch("positions", store.positions()),
      onCommit: () => () => undefined,
      onHint: () => () => undefined,
    },
    [flags, keyTable],
    { onLost: (error) => lost.push(error), onFound: () => (found += 1) },
  );
  const reset = () => {
    told.length = 0;
    Object.assign(calls, { positions: 0, changesAfter: 0, content: 0, keyHolders: 0 });
  };
  reset();
  return {
    feed,
    snapshots,
    keyTable,
    calls,
    told,
    lost,
    reset,
    get found() {
      return found;
    },
    hold(name: keyof Calls) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      promise.catch(() => undefined);
      gates.set(name, promise);
      return {
        open: () => {
          gates.delete(name);
          resolve();
        },
        fail: (error: Error) => {
          gates.delete(name);
          reject(error);
        },
      };
    },
  };
};

const withStore = async (
  work: (made: Awaited<ReturnType<typeof composeStore>>) => Promise<void>,
): Promise<void> => {
  const made = await composeStore();
  try {
    await work(made);
  } finally {
    await made.store.close();
    rmSync(made.folder, { recursive: true, force: true });
  }
};

suite("catching up", () => {
  test("many at once are served by the look that runs and one after it", () =>
    withStore(async ({ store, caller, environment }) => {
      const watched = await startFeed(store);
      await watched.feed.close();
      watched.reset();
      const held = watched.hold("positions");
      const waiting = Array.from({ length: 100 }, () => watched.feed.catchUp());
      await flagsOn(store, clock).create(caller, {
        key: "a",
        type: "boolean",
      });
      held.open();
      await Promise.all(waiting);
      assert.equal(watched.calls.positions, 2);
      assert.equal(watched.snapshots.get(environment.id)?.get("a")?.version, 1);
    }));

  test("what was committed before the call is there when it comes back", () =>
    withStore(async ({ store, caller, environment }) => {
      const watched = await startFeed(store);
      await watched.feed.close();
      const flags = flagsOn(store, clock);
      await flags.create(caller, { key: "a", type: "rollout" });
      for (let turn = 1; turn <= 50; turn += 1) {
        // The look that is under way may have read before the change.
        const early = watched.feed.catchUp();
        await flags.patch(caller, "a", { percentage: turn }, undefined);
        await watched.feed.catchUp();
        const flag = watched.snapshots.get(environment.id)?.get("a")?.flag;
        assert.equal(flag?.type === "rollout" && flag.percentage, turn);
        await early;
      }
      assert.equal(watched.calls.content, 0, "changes are followed one by one");
    }));

  test("a few missed changes are read as such; too many, or lost ones, by reading everything", () =>
    withStore(async ({ store, caller, folder }) => {
      const watched = await startFeed(store);
      await watched.feed.close();
      const flags = flagsOn(store, clock);
      await flags.create(caller, { key: "a", type: "boolean" });
      await flags.patch(caller, "a", { enabled: true }, undefined);
      await watched.feed.catchUp();
      const found = () => watched.told.map(({ revision, applied }) => [revision, applied?.length]);
      assert.deepEqual(found(), [[2, 2]]);
      assert.equal(watched.calls.content, 0);

      const advance = (count: number) =>
        writeRows({ folder }, `update environments set revision = revision + ${count}`);
      watched.reset();
      await advance(maxRecent + 1);
      await watched.feed.catchUp();
      assert.deepEqual(found(), [[maxRecent + 3, undefined]]);
      assert.deepEqual([watched.calls.content, watched.calls.changesAfter], [1, 0]);

      watched.reset();
      await advance(1);
      await watched.feed.catchUp();
      assert.deepEqual(found(), [[maxRecent + 4, undefined]]);
      assert.deepEqual([watched.calls.content, watched.calls.changesAfter], [1, 1]);
    }));

  test("a store that cannot be asked is reported once, memory stays, and it is followed again", () =>
    withStore(async ({ store, caller, environment }) => {
      const watched = await startFeed(store);
      await watched.feed.close();
      const flags = flagsOn(store, clock);
      await flags.create(caller, { key: "a", type: "boolean" });
      await watched.feed.catchUp();
      for (let turn = 0; turn < 3; turn += 1) {
        const held = watched.hold("positions");
        const waiting = watched.feed.catchUp();
        held.fail(new Error("away"));
        await assert.rejects(waiting, /away/);
      }
      // Whoever waits for the one after it has waited long enough.
      watched.reset();
      const running = watched.hold("positions");
      const both = [watched.feed.catchUp(), watched.feed.catchUp()].map((waiting) =>
        assert.rejects(waiting, /away/),
      );
      running.fail(new Error("away"));
      await Promise.all(both);
      assert.equal(watched.calls.positions, 1);
      // Those who can go on without are not troubled.
      const held = watched.hold("positions");
      const soon = watched.feed.catchUpSoon();
      held.fail(new Error("away"));
      await soon;
      assert.equal(watched.lost.length, 1);
      assert.equal(watched.snapshots.get(environment.id)?.get("a")?.version, 1);
      await flags.patch(caller, "a", { enabled: true }, undefined);
      await watched.feed.catchUp();
      assert.equal(watched.found, 1);
      assert.equal(watched.snapshots.get(environment.id)?.get("a")?.version, 2);
    }));

  test("it looks by itself from time to time", () =>
    withStore(async ({ store, caller, environment }) => {
      const watched = await startFeed(store);
      await flagsOn(store, clock).create(caller, {
        key: "a",
        type: "boolean",
      });
      await until("the flag", () => watched.snapshots.get(environment.id)?.get("a"));
      await watched.feed.close();
    }));

  test("a change of one's own that is also read is taken once, and nothing is read anew for it", () =>
    withStore(async ({ store, caller, environment }) => {
      const id = environment.id;
      const watched = await startFeed(store);
      await watched.feed.close();
      const flags = flagsOn(store, clock);
      await flags.create(caller, { key: "a", type: "boolean" });
      await flags.create(caller, { key: "b", type: "boolean" });
      const held = watched.hold("changesAfter");
      const waiting = watched.feed.catchUp();
      await until("the changes", () => watched.calls.changesAfter === 1);
      const [first] = await store.changesAfter(id, 0, 1);
      assert.ok(first && watched.snapshots.apply(id, [first]));
      held.open();
      await waiting;
      assert.deepEqual(
        watched.told.map(({ applied }) => applied?.map(({ revision }) => revision)),
        [[1], [2]],
      );
      assert.equal(watched.calls.content, 0);
    }));

  test("a change of one's own is not undone by a list that was read before it", () =>
    withStore(async ({ store, caller, environment, folder }) => {
      const watched = await startFeed(store);
      await watched.feed.close();
      const flags = flagsOn(store, clock);
      await flags.create(caller, { key: "a", type: "boolean" });
      await writeRows({ folder }, `update environments set revision = ${maxRecent + 5}`);
      const held = watched.hold("content");
      const waiting = watched.feed.catchUp();
      await until("the list", () => watched.calls.content === 1);
      const list = await store.content(environment.id);
      const [position] = await store.positions();
      assert.ok(position);
      watched.snapshots.replace(position, { ...list, revision: list.revision + 1 }, false);
      held.open();
      await waiting;
      assert.equal(watched.snapshots.get(environment.id)?.revision, list.revision + 1);
    }));
});

test("a key that was revoked here stays so, whatever a read that began before says", () =>
  withStore(async ({ store, environment, folder }) => {
    const operator = await composeOperator(parseConfig(await storeSettings(folder)));
    const make = (name: string) =>
      operator.keys.createAsOperator(environment.id, { role: "server", name });
    await make("good");
    const watched = await startFeed(store);
    await watched.feed.close();
    const keyCache = createApiKeyCache({
      table: watched.keyTable,
      catchUp: () => watched.feed.catchUp(),
      hashKey,
    });
    const { text } = await make("doomed");
    const doomed = (await keyCache.find(text))?.principal;
    assert.equal(doomed?.actor.name, "doomed");

    await make("third");
    const held = watched.hold("keyHolders");
    watched.reset();
    const waiting = watched.feed.catchUp();
    await until("the keys", () => watched.calls.keyHolders === 1);
    watched.keyTable.apply({ changes: [], revokedKeys: [doomed.keyId], accessChanged: false });
    assert.equal(keyCache.known(text), undefined);
    held.open();
    await waiting;
    assert.ok(!keyCache.isValid(doomed.keyId));
    assert.equal(await keyCache.find(text), undefined);
    assert.equal(await keyCache.holder(doomed.keyId), undefined);
    await operator.close();
  }));
