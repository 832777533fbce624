// The differences between two versions of a flag, their display form, and the initial flag.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  difference,
  formatMember,
  initialOf,
  isSameFlag,
  patchBetween,
} from "../src/difference.ts";
import { applyPatch, newFlag } from "../src/flags/change.ts";
import type { Flag } from "../src/flags/registry.ts";

const rollout = (percentage: number): Flag => ({
  key: "a",
  type: "rollout",
  enabled: true,
  percentage,
  description: null,
});

suite("the initial flag", () => {
  for (const type of ["boolean", "rollout"] as const) {
    test(`of type ${type} equals the flag that a request without fields creates`, () => {
      assert.deepEqual(
        { ok: true, flag: initialOf({ key: "a", type }) },
        newFlag({ key: "a", type }),
      );
    });
  }
});

test("the fields that differ, in display order", () => {
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

const before: Flag = {
  key: "f",
  type: "rollout",
  enabled: true,
  percentage: 25,
  description: null,
};
const after: Flag = { ...before, percentage: 50, description: "why" };

test("only changed fields are listed, in order", () => {
  assert.deepEqual(difference(before, after), [
    { member: "percentage", before: 25, after: 50 },
    { member: "description", before: null, after: "why" },
  ]);
  assert.deepEqual(difference(before, { ...before }), []);
  assert.equal(isSameFlag(before, { ...before }), true);
  assert.equal(isSameFlag(before, after), false);
});

test("the patch between two flags turns the first into the second", () => {
  assert.deepEqual(applyPatch(before, patchBetween(before, after)), { ok: true, flag: after });
});

test("fields are formatted for display, with numbers in the reader's locale", () => {
  assert.equal(formatMember("rollout", "percentage", 7.5), "7.5%");
  const german = (value: number) => String(value).replace(".", ",");
  assert.equal(formatMember("rollout", "percentage", 7.5, german), "7,5%");
  assert.equal(formatMember("boolean", "enabled", false), "off");
  assert.equal(formatMember("boolean", "description", null), "none");
  assert.equal(formatMember("boolean", "description", "why"), '"why"');
});
