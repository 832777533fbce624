// What the dashboard says a change means for users.
import assert from "node:assert/strict";
import { test } from "node:test";
import { patchBetween } from "@halyard/core/difference";
import type { Flag } from "@halyard/core/flags/registry";
import { canRestore, settingOf, summaryOf, withPatch } from "../src/flags/edit/flag-change.ts";
import { diffOf } from "../src/flags/edit/flag-lines.ts";

const rollout = (percentage: number, enabled = true): Flag => ({
  key: "f",
  type: "rollout",
  enabled,
  percentage,
  description: null,
});
const boolean = (enabled: boolean): Flag => ({
  key: "f",
  type: "boolean",
  enabled,
  description: null,
});

const variant = (enabled: boolean, small: number): Flag => ({
  key: "f",
  type: "variant",
  enabled,
  description: null,
  valueType: "string",
  variants: { small: "S", large: "L" },
  off: "small",
  otherwise: [
    { variant: "small", share: small },
    { variant: "large", share: 100 - small },
  ],
});

const cases: readonly (readonly [before: Flag, after: Flag, says: readonly string[]])[] = [
  [
    rollout(25),
    rollout(50),
    ["25% → 50%: about 2,500 more of every 10,000 users get it, nobody loses it."],
  ],
  [rollout(50), rollout(25), ["50% → 25%: about 2,500 of every 10,000 users lose it."]],
  [
    rollout(0),
    rollout(0.001),
    ["0% → 0.001%: about 1 of every 100,000 users get it, nobody loses it."],
  ],
  [
    rollout(10),
    rollout(0),
    ["10% → 0%: everyone who has it loses it, about 1,000 of every 10,000 users."],
  ],
  [
    rollout(10),
    rollout(10.5),
    ["10% → 10.5%: about 50 more of every 10,000 users get it, nobody loses it."],
  ],
  [rollout(25, false), rollout(50, false), ["25% → 50%: no effect while the flag is off."]],
  [
    rollout(25, false),
    rollout(25),
    ["off → 25%: about 2,500 of every 10,000 users get it, nobody loses it."],
  ],
  [
    rollout(25),
    rollout(25, false),
    ["25% → off: everyone who has it loses it, about 2,500 of every 10,000 users."],
  ],
  [rollout(100), rollout(100, false), ["100% → off: everyone loses it."]],
  [rollout(0), rollout(0, false), ["0% → off: nobody gets it or loses it."]],
  [boolean(false), boolean(true), ["off → on: everyone gets it."]],
  [boolean(true), boolean(false), ["on → off: everyone loses it."]],
  [
    boolean(true),
    { ...boolean(true), description: "why" },
    ["The description changes; users see no difference."],
  ],
  [boolean(true), boolean(true), []],
  [
    variant(false, 50),
    variant(false, 40),
    ["small 50%, large 50% → small 40%, large 60%: no effect while the flag is off."],
  ],
  [
    variant(false, 50),
    variant(true, 50),
    ["off → small 50%, large 50%: about 5,000 of every 10,000 users get it, nobody loses it."],
  ],
];

for (const [before, after, says] of cases) {
  test(`${settingOf(before)} to ${settingOf(after)}: ${says.join(" ") || "nothing"}`, () => {
    assert.deepEqual(summaryOf(before, after), says);
    assert.deepEqual(withPatch(before, patchBetween(before, after)), after);
  });
}

test("a history entry names only the fields that changed", () => {
  const after: Flag = { ...rollout(50), description: "why" };
  assert.deepEqual(diffOf(rollout(25), after), [
    { field: "percentage", before: "25%", after: "50%" },
    { field: "description", before: undefined, after: "why" },
  ]);
  assert.deepEqual(diffOf(boolean(true), null), [
    { field: "type", before: "boolean", after: undefined },
    { field: "enabled", before: "on", after: undefined },
  ]);
});

test("a flag shows in a few words what it is set to", () => {
  const shown = [rollout(25), rollout(25, false), boolean(true), boolean(false)].map(settingOf);
  assert.deepEqual(shown, ["on for 25%", "off, 25% when on", "on for everyone", "off"]);
});

test("an earlier version can be restored when it differs and has the same type", () => {
  assert.equal(canRestore(rollout(25), rollout(50)), true);
  assert.equal(canRestore(rollout(25), rollout(25)), false);
  assert.equal(canRestore(boolean(true), rollout(25, false)), false);
});
