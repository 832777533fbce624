// Plans that copy flags between environments: impossible changes, and undoing a plan.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Flag } from "@halyard/core/flags/registry";
import { planChanges } from "@halyard/core/plan/plan";
import { copiedMembers, planPromotion } from "@halyard/core/plan/promotion";
import { reverse } from "@halyard/core/plan/reverse";
import { unmetRequirements } from "@halyard/core/plan/unmet";
import type { Segment } from "@halyard/core/targeting/segment";

const flag = (key: string, more: object = {}): Flag =>
  ({ key, type: "boolean", enabled: false, description: null, ...more }) as Flag;
const requiring = (key: string, ...keys: readonly string[]): Flag =>
  flag(key, { requires: keys.map((each) => ({ flag: each, variant: "on" })) });
const naming = (key: string, name: string): Flag =>
  flag(key, { otherwise: "off", rules: [{ id: "one", when: { segment: [name] }, serve: "on" }] });
const segment = (key: string, ...include: readonly string[]): Segment => ({
  key,
  description: null,
  include,
  exclude: [],
  when: null,
});

const from = {
  flags: [naming("a", "new"), naming("b", "other"), flag("c", { enabled: true })],
  segments: [segment("new"), segment("other", "ann"), segment("unnamed")],
};
const to = {
  flags: [flag("c"), flag("gone")],
  segments: [segment("other", "bob"), segment("past")],
};
const keysOf = (changes: readonly { kind: string; of: string; key: string }[]) =>
  changes.map(({ kind, of, key }) => `${kind} ${of} ${key}`);

test("segments that the selected flags reference are copied, unless they already exist", () => {
  const options = { keys: new Set(["a", "b"]), members: copiedMembers };
  const plan = planPromotion(from, to, options);
  assert.deepEqual(keysOf(plan.changes), ["create segment new", "create flag a", "create flag b"]);
  assert.deepEqual(plan.otherSegments, ["other"]);
  const all = planPromotion(from, to, { members: copiedMembers });
  assert.ok(keysOf(all.changes).includes("update segment other"));
  assert.deepEqual(all.otherSegments, []);
});

test("without rules, no segments are copied, and only the selected fields change", () => {
  const plan = planPromotion(from, to, { keys: new Set(["a", "c"]), members: ["enabled"] });
  assert.deepEqual(keysOf(plan.changes), ["create flag a", "update flag c"]);
  const [made, changed] = plan.changes;
  assert.ok(made?.of === "flag" && made.kind === "create" && !("rules" in made.flag));
  assert.ok(changed?.of === "flag" && changed.kind === "update");
  assert.deepEqual(changed.patch, { enabled: true });
});

test("undoing restores the previous state", () => {
  const { changes } = planChanges(to, from, { prune: true });
  const back = changes.map(reverse);
  const { changes: wanted } = planChanges(from, to, { prune: true });
  assert.deepEqual(new Set(back), new Set(wanted));
  const retype = planChanges(
    { flags: [flag("c")] },
    { flags: [flag("c", { type: "rollout", percentage: 5 })] },
  );
  assert.deepEqual(retype.changes.map(reverse), [undefined]);
});

test("a flag whose prerequisite is missing can't be created, nor a flag that requires it", () => {
  const wanted = [requiring("a", "b"), requiring("b", "missing"), requiring("c", "d"), flag("d")];
  const { changes } = planChanges({ flags: [] }, { flags: wanted });
  assert.deepEqual(
    [...unmetRequirements(changes, [])],
    [
      ["b", ["missing"]],
      ["a", ["b"]],
    ],
  );
  assert.deepEqual([...unmetRequirements(changes, [flag("missing")])], []);
});
