// Users affected by a change, counted over a list of contexts.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Flag } from "../src/flags/registry.ts";
import { exactShareOf } from "../src/preview/exact-share.ts";
import { intervalOf } from "../src/preview/interval.ts";
import { boolean, people, planIn, rollout, run, sideOf } from "./support/preview-question.ts";

test("a new percentage changes the users between the old and the new one, and reports the exact share", () => {
  const preview = run({
    before: sideOf([rollout(25)]),
    after: sideOf([rollout(45)]),
    contexts: people(2_000),
  });
  const [flag] = preview.flags;
  assert.equal(flag?.exactShare, 20);
  assert.equal(preview.changed + preview.unchanged, 2_000);
  assert.ok((preview.low ?? 100) < 20 && (preview.high ?? 0) > 20, JSON.stringify(preview));
  assert.deepEqual(
    flag?.flips.map(({ from, to, count }) => ({ from, to, count })),
    [
      {
        from: { variant: "off", value: false, rule: null, reason: "SPLIT" },
        to: { variant: "on", value: true, rule: null, reason: "SPLIT" },
        count: preview.changed,
      },
    ],
  );
  assert.equal(preview.examples.length, 20);
});

test("changes are reported by rule, and a different reason alone is no change", () => {
  const rules = [{ id: "pro", when: planIn("pro"), serve: "on" }] as const;
  const preview = run({
    before: sideOf([rollout(0)]),
    after: sideOf([rollout(0, { rules })]),
    contexts: people(100, (index) => ({ plan: index < 30 ? "pro" : "free" })),
  });
  assert.deepEqual(preview.flags[0]?.flips[0]?.to, {
    variant: "on",
    value: true,
    rule: "pro",
    reason: "TARGETING_MATCH",
  });
  assert.deepEqual([preview.changed, preview.unchanged, preview.unknown], [30, 70, 0]);
  assert.equal(preview.flags[0]?.exactShare, undefined);
});

test("flags that require a changed flag or reference a changed segment are affected", () => {
  const above = boolean("above", { requires: [{ flag: "checkout", variant: "on" }] });
  const named = boolean("named", {
    otherwise: "off",
    rules: [{ id: "staff", when: { segment: ["staff"] }, serve: "on" }],
  } as Partial<Flag>);
  const same = boolean("same", { requires: [{ flag: "checkout", variant: "on" }], enabled: false });
  const lists = (include: readonly string[]) => ({
    staff: { include: new Set(include), exclude: new Set<string>(), when: null },
  });
  const preview = run({
    before: sideOf([boolean("checkout", { enabled: false }), above, named, same], lists([])),
    after: sideOf([boolean("checkout"), above, named, same], lists(["user-1", "user-2"])),
    touched: ["above", "named", "same"],
    contexts: people(10),
  });
  assert.deepEqual(
    preview.flags.map(({ key, changed }) => [key, changed]),
    [
      ["checkout", 10],
      ["above", 10],
      ["named", 2],
    ],
  );
  assert.equal(preview.share, 100);
});

test("an attribute that no context has makes results unknown only where it matters", () => {
  const rules = [
    { id: "home", when: { attribute: "country", op: "in", values: ["DE"] }, serve: "on" },
  ];
  const preview = run({
    before: sideOf([rollout(10, { rules } as Partial<Flag>)]),
    after: sideOf([rollout(20, { rules } as Partial<Flag>)]),
    contexts: people(1_000),
  });
  assert.deepEqual(preview.unknownAttributes, ["country"]);
  assert.equal(preview.changed, 0);
  assert.ok(preview.unknown > 60 && preview.unknown < 140, String(preview.unknown));
  assert.equal(preview.unchanged, 1_000 - preview.unknown);

  const own = run({
    before: sideOf([rollout(10)]),
    after: sideOf([
      rollout(10, { rules: [{ ...rules[0], when: { not: rules[0]?.when } }] } as never),
    ]),
    contexts: people(1_000),
  });
  assert.equal(own.changed, 0);
  assert.ok(own.unknown > 850);

  const bucket = run({
    before: sideOf([rollout(10, { bucketBy: "/company/id" })]),
    after: sideOf([rollout(20, { bucketBy: "/company/id" })]),
    contexts: people(10),
  });
  assert.deepEqual(
    [bucket.unknown, bucket.unknownAttributes, bucket.share],
    [10, ["/company/id"], null],
  );

  const above = boolean("above", { requires: [{ flag: "checkout", variant: "on" }] });
  const below = run({
    before: sideOf([rollout(10, { bucketBy: "/company/id" }), above]),
    after: sideOf([rollout(20, { bucketBy: "/company/id" }), above]),
    touched: ["above"],
    contexts: people(10),
  });
  assert.deepEqual(
    below.flags.map(({ unknown }) => unknown),
    [10, 10],
  );

  // Neither if both conditions hold nor if none does, but if exactly one does.
  const except = { all: [rules[0]?.when, { not: { attribute: "city", op: "in", values: ["X"] } }] };
  const alone = run({
    before: sideOf([rollout(0)]),
    after: sideOf([rollout(0, { rules: [{ id: "a", when: except, serve: "on" }] } as never)]),
    contexts: people(10),
  });
  assert.deepEqual([alone.unknown, alone.unknownAttributes], [10, ["city", "country"]]);
});

test("a created or deleted flag counts as off while it does not exist", () => {
  const created = run({
    before: sideOf([]),
    after: sideOf([rollout(50)]),
    contexts: people(100),
  });
  assert.deepEqual(created.flags[0]?.flips[0]?.from, { errorCode: "FLAG_NOT_FOUND" });
  assert.equal(created.flags[0]?.exactShare, 50);
  assert.equal(created.changed, created.flags[0]?.flips[0]?.count);
  const removed = run({
    before: sideOf([rollout(50, { enabled: false })]),
    after: sideOf([]),
    contexts: people(100),
  });
  assert.equal(removed.changed, 0);
});

test("a missing targeting key is an outcome like others", () => {
  const preview = run({
    before: sideOf([rollout(100)]),
    after: sideOf([rollout(99.999)]),
    contexts: [{}, { targetingKey: "user-1" }],
  });
  assert.deepEqual(preview.flags[0]?.flips[0]?.to, { errorCode: "TARGETING_KEY_MISSING" });
  assert.equal(preview.changed, 1);
});

test("exact shares compare splits by value", () => {
  const variants = { small: 1, large: 2, same: 1 };
  const variant = (otherwise: unknown, rest: object = {}): Flag =>
    ({
      key: "size",
      type: "variant",
      valueType: "number",
      enabled: true,
      description: null,
      variants,
      off: "small",
      otherwise,
      ...rest,
    }) as Flag;
  const split = (large: number, name = "small") => [
    { variant: "large", share: large },
    { variant: name, share: 100 - large },
  ];
  const cases: readonly (readonly [Flag | undefined, Flag | undefined, number | undefined])[] = [
    [variant("small"), variant(split(12.5)), 12.5],
    [variant(split(10)), variant(split(30, "same")), 20],
    [variant(split(10)), variant(split(10, "same")), 0],
    [variant(split(10)), variant(split(30), { bucketSeed: "x" }), undefined],
    [variant("small"), variant(split(30), { bucketSeed: "x" }), 30],
    [undefined, variant(split(30)), 30],
    [boolean("a"), boolean("a", { enabled: false }), 100],
    [rollout(5), rollout(5, { bucketBy: "x" }), undefined],
    [rollout(5), rollout(9, { requires: [{ flag: "a", variant: "on" }] }), undefined],
    [undefined, undefined, undefined],
  ];
  for (const [before, after, share] of cases) assert.equal(exactShareOf(before, after), share);
});

test("the interval contains the true share in at least 95 of 100 samples, even for rare outcomes", () => {
  // Adds up the probabilities of all counts whose interval contains the share.
  for (const size of [20, 300]) {
    for (const share of [0.001, 0.01, 0.05, 0.2, 0.5, 0.9]) {
      let probability = (1 - share) ** size;
      let held = 0;
      for (let count = 0; count <= size; count += 1) {
        const { low = 0, high = 0 } = intervalOf(count, size) ?? {};
        if (low <= share * 100 && share * 100 <= high) held += probability;
        probability *= ((size - count) / (count + 1)) * (share / (1 - share));
      }
      assert.ok(held >= 0.949, `${size} of ${share}: ${held}`);
    }
  }
  assert.equal(intervalOf(0, 0), undefined);
  assert.deepEqual(intervalOf(518, 4_118), { share: 12.58, low: 11.59, high: 13.64 });
});
