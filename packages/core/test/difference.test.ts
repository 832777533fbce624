// What differs between two versions of a flag, and what a new flag differs from.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { difference, initialOf, isSameFlag, patchBetween } from "../src/difference.ts";
import { newFlag } from "../src/flags/change.ts";
import { type Flag, flagTypeNames } from "../src/flags/registry.ts";

const rollout = (percentage: number): Flag => ({
  key: "a",
  type: "rollout",
  enabled: true,
  percentage,
  description: null,
});

suite("the initial flag", () => {
  for (const type of flagTypeNames) {
    test(`of type ${type} is what a request without members creates`, () => {
      assert.deepEqual(
        { ok: true, flag: initialOf({ key: "a", type }) },
        newFlag({ key: "a", type }),
      );
    });
  }
});

test("members that differ, in the order in which people read them", () => {
  const before = initialOf(rollout(25));
  assert.deepEqual(difference(before, { ...rollout(25), description: "b" }), [
    { member: "enabled", before: false, after: true },
    { member: "percentage", before: 0, after: 25 },
    { member: "description", before: null, after: "b" },
  ]);
  assert.deepEqual(patchBetween(before, rollout(25)), { enabled: true, percentage: 25 });
  assert.ok(isSameFlag(rollout(25), { ...rollout(25) }));
  assert.ok(!isSameFlag(rollout(25), rollout(26)));
});
