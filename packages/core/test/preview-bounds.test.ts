// The limits of previews, and that previews yield to other work.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EvaluationContext } from "../src/context.ts";
import type { Flag } from "../src/flags/registry.ts";
import { previewChanges } from "../src/preview/preview.ts";
import { boolean, people, planIn, rollout, run, sideOf } from "./support/preview-question.ts";

test("an empty sample has no shares, and the number of flags is limited", () => {
  const keys = Array.from({ length: 400 }, (_, index) => `flag-${index}`);
  const preview = run({
    before: sideOf(keys.map((key) => boolean(key, { enabled: false }))),
    after: sideOf(keys.map((key) => boolean(key))),
    changed: keys,
    contexts: [],
  });
  assert.deepEqual([preview.share, preview.low, preview.high], [null, null, null]);
  assert.deepEqual([preview.flags.length, preview.flagsLeftOut], [250, 150]);

  // Large enough that two flags exceed the limit. Contexts are not evaluated, which would take too long.
  const many = Object.assign(new Array<EvaluationContext>(2_600_000), {
    entries: () => people(0).entries(),
  });
  const long = run({
    before: sideOf(keys.map((key) => boolean(key, { enabled: false }))),
    after: sideOf(keys.map((key) => boolean(key))),
    changed: keys.slice(0, 1),
    touched: keys.slice(1, 3),
    contexts: many,
  });
  assert.deepEqual([long.flags.length, long.flagsLeftOut], [1, 2]);
});

test("changes and examples are limited, and a long value is omitted", () => {
  const rules = Array.from({ length: 25 }, (_, index) => ({
    id: `rule-${index}`,
    when: planIn(`plan-${index}`),
    serve: "long",
  }));
  const variant = (rest: object): Flag =>
    ({
      ...{ key: "text", type: "variant", valueType: "string", enabled: true, description: null },
      variants: { none: "", long: "x".repeat(1_100) },
      ...{ off: "none", otherwise: "none", ...rest },
    }) as Flag;
  const preview = run({
    before: sideOf([variant({})]),
    after: sideOf([variant({ rules })]),
    changed: ["text"],
    contexts: people(75, (index) => ({ plan: `plan-${index % 25}` })),
  });
  const [flag] = preview.flags;
  assert.deepEqual([preview.changed, flag?.flips.length, flag?.flipsLeftOut], [75, 20, 5]);
  assert.equal(preview.examples.length, 20);
  assert.deepEqual(flag?.flips[0]?.to, {
    ...{ variant: "long", rule: "rule-0", reason: "TARGETING_MATCH" },
  });
});

test("a changed flag is evaluated even if there are too many flags", () => {
  const german = { id: "n", when: { attribute: "country", op: "in", values: ["DE"] }, serve: "on" };
  const some = (key: string, percentage: number): Flag =>
    rollout(percentage, { key, rules: [german] } as unknown as Partial<Flag>);
  const keys = ["a", "b", "c"];
  const question = {
    before: sideOf(keys.map((key) => some(key, 0))),
    after: sideOf([some("a", 0), some("b", 0), some("c", 100)]),
    changed: keys,
    touched: [],
    contexts: people(100),
  };
  const work = previewChanges(question, 600);
  let step = work.next();
  while (!step.done) step = work.next();
  const { flagsLeftOut, shareAsSampled, unknown } = step.value;
  assert.deepEqual([flagsLeftOut, shareAsSampled, unknown], [0, 100, 100]);
});

test("a preview of expensive rules counts part of the sample, and its numbers cover that part", () => {
  const values = Array.from({ length: 100 }, (_, index) => `value-${index}`);
  const when = { attribute: "text", op: "contains", values };
  const side = (percentage: number) =>
    sideOf([
      rollout(percentage, { rules: [{ id: "r", when, serve: "on" }] } as unknown as Partial<Flag>),
    ]);
  const question = {
    ...{ before: side(0), after: side(100), changed: ["checkout"], touched: [] },
    contexts: people(3_000, (index) => ({ text: "a", half: index % 2 })),
  };
  const count = (maxWork?: number) => {
    const work = previewChanges(question, undefined, maxWork);
    let [step, breaks] = [work.next(), 0];
    for (; !step.done; step = work.next()) breaks += 1;
    return { preview: step.value, breaks };
  };
  const { preview, breaks } = count(30_000_000);
  const counted = 3_000 - preview.contextsLeftOut;
  assert.ok(counted >= 60 && counted < 120, String(counted));
  assert.deepEqual([preview.changed, preview.unchanged, preview.unknown], [counted, 0, 0]);
  assert.equal(preview.share, 100);
  assert.ok((preview.low ?? 100) < 99, "fewer people make the interval wider");
  assert.equal(preview.flags[0]?.changed, counted);
  // Each of these evaluations takes longer than a time slice.
  assert.ok(breaks >= counted, String(breaks));
  // Evenly distributed, not only the first ones.
  assert.ok(preview.examples.some(({ context }) => "half" in context && context.half === 0));
  assert.ok(count().preview.contextsLeftOut < preview.contextsLeftOut);
});

test("looking up many attributes in all contexts yields", () => {
  const any = Array.from({ length: 150 }, (_, index) => ({
    ...{ attribute: `a${index}`, op: "exists", value: true },
  }));
  const rules = [{ id: "many", when: { any }, serve: "on" }];
  const side = sideOf([rollout(10, { rules } as unknown as Partial<Flag>)]);
  const question = { before: side, after: side, changed: ["checkout"], touched: [] };
  const work = previewChanges({ ...question, contexts: people(1) });
  let breaks = 0;
  while (!work.next().done) breaks += 1;
  assert.ok(breaks >= 150, String(breaks));
});
