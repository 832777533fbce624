// Snapshots in memory: what they hold, which changes they still know, and that two instances always hold the same.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { suite, test } from "node:test";
import { evaluate } from "@halyard/core/evaluate";
import type { Flag } from "@halyard/core/flags/registry";
import { parseConfig } from "@halyard/server";
import { openStore } from "@halyard/server/operator";
import fc from "fast-check";
import { startChangeFeed } from "../src/evaluation/change-feed.ts";
import {
  maxRecent,
  maxRecentLength,
  revisionName,
  revisionNumber,
} from "../src/evaluation/recent-changes.ts";
import { createSnapshot, type Snapshot } from "../src/evaluation/snapshot.ts";
import { createSnapshots, followSnapshots } from "../src/evaluation/snapshots.ts";
import type { Store } from "../src/platform/database/store.ts";
import type { Revision } from "../src/writes/change.ts";
import { composeStore } from "./faults/support/composed-store.ts";
import { flagsOn } from "./support/store-flags.ts";
import { storeSettings } from "./support/test-store.ts";

const noCounter = { of: () => ({ on: 0, off: 0, results: undefined }), forget: () => undefined };
const flag = (key: string, enabled = false): Flag => ({
  key,
  type: "boolean",
  enabled,
  description: null,
});
const begin = Date.parse("2026-11-14T12:00:00.000Z");
const change = (revision: number, key: string, after: Flag | null = flag(key)): Revision => ({
  revision,
  at: new Date(begin + revision),
  kind: "flag",
  key,
  version: revision,
  value: after,
});
const newSnapshot = () =>
  createSnapshot(1, "test", { revision: 0, changedAt: null, flags: [], segments: [] }, noCounter);
const keysOf = (snapshot: Snapshot) => snapshot.all().map((entry) => entry.flag.key);

suite("a snapshot", () => {
  test("lists its flags by key, whatever is added, changed and taken away", () => {
    const snapshot = newSnapshot();
    const steps: [string, Flag | null, string[]][] = [
      ["b", flag("b"), ["b"]],
      ["a", flag("a"), ["a", "b"]],
      ["B", flag("B"), ["B", "a", "b"]],
      ["a", flag("a", true), ["B", "a", "b"]],
      ["b", null, ["B", "a"]],
      ["b", null, ["B", "a"]],
      ["0", flag("0"), ["0", "B", "a"]],
      ["B", flag("B", true), ["0", "B", "a"]],
    ];
    for (const [index, [key, after, expected]] of steps.entries()) {
      snapshot.apply(change(index + 1, key, after));
      assert.deepEqual(keysOf(snapshot), expected);
      assert.deepEqual(snapshot.get(key)?.flag, after ?? undefined);
    }
    assert.deepEqual(
      snapshot.all().map((entry) => entry.flag.enabled),
      [false, true, true],
    );
    assert.equal(snapshot.name, revisionName(8, new Date(begin + 8)));
  });

  test("knows the last thousand changes by the name of the revision before them", () => {
    const snapshot = newSnapshot();
    assert.deepEqual(snapshot.since("0-0"), []);
    const names = ["0-0"];
    for (let revision = 1; revision <= 3_200; revision += 1) {
      snapshot.apply(change(revision, "a"));
      names.push(snapshot.name);
      for (const missed of [0, 1, 10, maxRecent]) {
        const name = names.at(-1 - missed);
        if (name === undefined) continue;
        const since = snapshot.since(name);
        assert.equal(since?.length, missed, `${missed} changes before revision ${revision}`);
        assert.equal(since?.[0]?.revision, missed === 0 ? undefined : revision - missed + 1);
      }
    }
    for (const missed of [Math.ceil(maxRecent * 1.5) + 1, 3_200]) {
      assert.equal(snapshot.since(names.at(-1 - missed) ?? ""), undefined);
    }
  });

  test("knows fewer changes when they are large, and always the last ones", () => {
    const snapshot = newSnapshot();
    const names = [snapshot.name];
    const long = "x".repeat(250_000);
    const grow = (revision: number) => {
      const value = {
        key: "s",
        description: null,
        when: null,
        counts: { include: revision, exclude: 0 },
        include: { added: [`${revision}-${long}`], removed: [] },
      };
      const at = new Date(begin + revision);
      snapshot.apply({ revision, at, kind: "segment", key: "s", version: revision, value });
      names.push(snapshot.name);
      return JSON.stringify(value).length;
    };
    const length = grow(1);
    const most = Math.floor(maxRecentLength / length);
    for (let revision = 2; revision <= most * 1.5; revision += 1) {
      grow(revision);
      const known = names.filter((name) => snapshot.since(name) !== undefined).length - 1;
      assert.ok(known <= most, `${known} changes of ${length} characters are known`);
      assert.ok(known >= Math.min(revision, Math.floor(most / 2)), `only ${known} are known`);
      assert.equal(snapshot.since(names.at(-3) ?? "")?.length, 2);
    }
  });

  test("prepares a flag again when it changes, and nothing else", () => {
    const snapshot = newSnapshot();
    const rules = [{ id: "a", when: { segment: ["s"] }, serve: "on" }];
    const ruled = (key: string, otherwise: "on" | "off"): Flag =>
      Object.assign(flag(key, true), { rules, otherwise });
    const keys = ["a", "b", "c"];
    for (const [index, key] of keys.entries()) {
      snapshot.apply({ ...change(index + 1, key, ruled(key, "off")), level: 2 } as Revision);
    }
    const prepared = () => keys.map((key) => snapshot.get(key)?.prepared);
    const [a, b, c] = prepared();
    assert.equal(new Set([a, b, c]).size, 3);
    snapshot.apply({ ...change(4, "b", ruled("b", "on")), level: 2 } as Revision);
    const [a2, b2, c2] = prepared();
    assert.notEqual(b2, b);
    assert.deepEqual([a2 === a, c2 === c], [true, true]);
    const value = {
      key: "s",
      description: null,
      when: null,
      counts: { include: 1, exclude: 0 },
      include: { added: ["ann"], removed: [] },
    };
    snapshot.apply({ ...change(5, "s"), kind: "segment", value } as Revision);
    assert.deepEqual(
      prepared().map((each, index) => each === [a2, b2, c2][index]),
      [true, true, true],
      "a change of a segment prepares no flag",
    );
    const { prepared: first } = snapshot.get("a") ?? assert.fail("the flag is there");
    assert.equal((evaluate(first, { targetingKey: "ann" }) as { value: unknown }).value, true);
  });

  test("does not know a revision of another history, of the future or of no form", () => {
    const snapshot = newSnapshot();
    for (let revision = 1; revision <= 5; revision += 1) snapshot.apply(change(revision, "a"));
    for (const name of [
      revisionName(3, new Date(begin)),
      revisionName(6, new Date(begin + 6)),
      revisionName(5, null),
      "",
      "3",
      "-",
      "NaN-0",
      "-1-0",
      "1e0-x",
    ]) {
      assert.equal(snapshot.since(name), undefined, name);
    }
    assert.equal(snapshot.since(revisionName(3, new Date(begin + 3)))?.length, 2);
    snapshot.replace({ revision: 9, changedAt: new Date(begin), flags: [], segments: [] });
    assert.equal(snapshot.since(revisionName(3, new Date(begin + 3))), undefined);
    assert.deepEqual(snapshot.since(revisionName(9, new Date(begin))), []);
  });

  test("a revision's number is read from its name, and 0 from anything else", () => {
    for (const [name, revision] of [
      ["12-mb3k2x1", 12],
      ["0-0", 0],
      ["999999999999999-zzzzzzzzz", 999_999_999_999_999],
      ["12", 0],
      ["-5-0", 0],
      ["12-MB", 0],
      ["1.5-0", 0],
      [" 1-0", 0],
      ["", 0],
    ] as const) {
      assert.equal(revisionNumber(name), revision, name);
    }
  });
});

/** One instance as evaluation sees it, with what its snapshot held at each revision that was told. */
const follow = async (store: Store) => {
  const snapshots = createSnapshots(noCounter);
  const seen = new Map<number, string>();
  const revisions: number[] = [];
  snapshots.onChange((snapshot, applied) => {
    for (const { revision } of applied ?? []) revisions.push(revision);
    const flags = snapshot.all().map((entry) => [entry.flag, entry.version]);
    seen.set(snapshot.revision, JSON.stringify(flags));
  });
  const feed = await startChangeFeed(store, [followSnapshots(store, snapshots)], {
    onLost: () => undefined,
    onFound: () => undefined,
  });
  return { feed, snapshots, seen, revisions, flags: flagsOn(store) };
};

test("two instances hold the same flags at the same revision, and meet every revision once and in order", async () => {
  const { folder, store, caller, environment } = await composeStore();
  const second = await openStore(parseConfig(await storeSettings(folder)));
  const id = environment.id;
  let texts = 0;
  const newText = () => {
    texts += 1;
    return `text ${texts}`;
  };
  const step = fc.record({
    instance: fc.integer({ min: 0, max: 1 }),
    key: fc.constantFrom("a", "b", "c"),
    kind: fc.constantFrom("create", "enable", "disable", "describe", "remove"),
    together: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const instances = [await follow(store), await follow(second)] as const;
      const from = instances[0].snapshots.get(id)?.revision ?? 0;
      let running: Promise<unknown>[] = [];
      for (const { instance, key, kind, together } of steps) {
        const { flags, snapshots } = instances[instance === 0 ? 0 : 1];
        const patch = (body: object) => flags.patch(caller, key, body, undefined);
        const made = {
          create: async () => (await flags.create(caller, { key, type: "boolean" })).result,
          enable: () => patch({ enabled: true }),
          disable: () => patch({ enabled: false }),
          describe: () => patch({ description: newText() }),
          remove: () => flags.remove(caller, key, undefined),
        }[kind]();
        running.push(made);
        if (together) continue;
        const answer = await made;
        if (kind !== "create" && kind !== "describe") continue;
        // Whoever has the answer of a change sees it, or a later one of somebody else.
        const version =
          answer.ok && answer.value && "version" in answer.value && answer.value.version;
        const present = snapshots.get(id)?.get(key);
        if (version && present) assert.ok(present.version >= version);
        await Promise.all(running);
        running = [];
      }
      await Promise.all(running);
      const stored = await store.content(id);
      const expected = JSON.stringify(stored.flags.map((each) => [each.flag, each.version]));
      for (const { feed, snapshots, seen, revisions } of instances) {
        await feed.catchUp();
        await feed.close();
        assert.equal(snapshots.get(id)?.revision, stored.revision);
        assert.equal(seen.get(stored.revision), expected);
        assert.deepEqual(
          revisions,
          Array.from({ length: stored.revision - from }, (_, index) => from + index + 1),
        );
      }
      for (const [revision, flags] of instances[0].seen) {
        const other = instances[1].seen.get(revision);
        if (other !== undefined) assert.equal(other, flags, `revision ${revision}`);
      }
    }),
    { numRuns: 12 },
  );
  await second.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});
