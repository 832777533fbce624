// Counting while the store cannot be written to: nothing is lost, and nothing is counted twice.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { test } from "node:test";
import type { EnvironmentContent } from "../src/evaluation/content.ts";
import { createSnapshots } from "../src/evaluation/snapshots.ts";
import { addTo, createUsage } from "../src/evaluation/usage/counters.ts";
import { listUsage } from "../src/features/usage/queries.ts";
import type { Store } from "../src/platform/database/store.ts";
import { composeStore } from "./faults/support/composed-store.ts";
import { flagsOn } from "./support/store-flags.ts";

const clock = () => new Date();

test("what cannot be written down is kept and added to what comes after", async () => {
  const { store, caller, environment, folder } = await composeStore();
  const id = environment.id;
  await flagsOn(store, clock).create(caller, { key: "a", type: "boolean" });
  let away = false;
  const { promise: later, resolve: goOn } = Promise.withResolvers<void>();
  let slow: Promise<void> | undefined;
  const transactAsyncCommit: Store["transactAsyncCommit"] = async (work) => {
    await slow;
    if (away) throw new Error("away");
    return store.transactAsyncCommit(work);
  };
  const failures: unknown[] = [];
  const usage = createUsage({ ...store, transactAsyncCommit }, clock, (error) =>
    failures.push(error),
  );
  const stored = async () => {
    const [flag] = await listUsage(store, id, new Date(0), "a");
    return [flag?.on, flag?.off];
  };
  const counter = usage.counters.of(id, "a");
  addTo(counter, { on: 3, off: 1, variants: { on: 3, off: 1 }, rules: { staff: 2 } });
  away = true;
  await assert.rejects(usage.flush(), /away/);
  addTo(counter, { on: 2, off: 0, variants: { on: 2 }, rules: { staff: 1 } });
  away = false;
  await usage.flush();
  assert.deepEqual(await stored(), [5, 1]);
  await usage.flush();
  assert.deepEqual(await stored(), [5, 1]);
  const [{ variants, rules } = {}] = await listUsage(store, id, new Date(0), "a");
  assert.deepEqual({ variants, rules }, { variants: { off: 1, on: 5 }, rules: { staff: 3 } });

  // Whoever asks while another is writing sees what that one has taken.
  counter.on += 1;
  slow = later;
  const first = usage.flush();
  const second = usage.flush().then(stored);
  goOn();
  await first;
  assert.deepEqual(await second, [6, 1]);

  assert.equal(usage.counters.of(id, "a"), counter);
  counter.off += 4;
  await usage.close();
  assert.deepEqual(await stored(), [6, 5]);
  assert.deepEqual(failures, []);
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

test("the counter of a flag that is gone is forgotten, one by one and with its environment", async () => {
  const { store, folder } = await composeStore();
  const usage = createUsage(store, clock, () => undefined);
  const list = (revision: number, keys: readonly string[]): EnvironmentContent => ({
    revision,
    changedAt: null,
    segments: [],
    flags: keys.map((key) => ({
      flag: { key, type: "boolean", enabled: false, description: null },
      version: 1,
    })),
  });
  const snapshots = createSnapshots(usage.counters);
  const position = { environmentId: 1, name: "test", revision: 1, keysRevision: 0 };
  snapshots.replace(position, list(1, ["a", "b", "c"]), false);
  const [a, b, c] = ["a", "b", "c"].map((key) => usage.counters.of(1, key));
  const gone = { at: new Date(), kind: "flag", version: 2, value: null } as const;
  snapshots.apply(1, [{ ...gone, revision: 2, key: "a" }]);
  snapshots.replace(position, list(3, ["c"]), false);
  assert.notEqual(usage.counters.of(1, "a"), a);
  assert.notEqual(usage.counters.of(1, "b"), b);
  assert.equal(usage.counters.of(1, "c"), c);
  snapshots.forget(1);
  assert.notEqual(usage.counters.of(1, "c"), c);
  await usage.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});
