// The changes of a plan, and their order.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Flag } from "@halyard/core/flags/registry";
import { planChanges } from "@halyard/core/plan/plan";
import { stagesOf } from "@halyard/core/plan/stages";
import type { Segment } from "@halyard/core/targeting/segment";
import { partsOf } from "@halyard/sdk/segment-members";
import { groupsOf, type Ready } from "../../sdk/src/plan/apply-flags.ts";
import { linesOf } from "../src/flags-file/plan/show-plan.ts";

const flag = (key: string, more: object = {}): Flag =>
  ({ key, type: "boolean", enabled: false, description: null, ...more }) as Flag;
const requiring = (key: string, ...keys: readonly string[]) =>
  flag(key, { requires: keys.map((each) => ({ flag: each, variant: "on" })) });
const segment = (key: string, more: Partial<Segment> = {}): Segment => ({
  key,
  description: null,
  include: [],
  exclude: [],
  when: null,
  ...more,
});
const naming = (key: string, name: string) =>
  flag(key, { otherwise: "off", rules: [{ id: "one", when: { segment: [name] }, serve: "on" }] });

const variantFlag = (more: object = {}) =>
  flag("size", {
    type: "variant",
    valueType: "string",
    variants: { s: "S", l: "L" },
    off: "s",
    otherwise: "l",
    ...more,
  });

type Lists = Parameters<typeof planChanges>[0];
const stages = (current: Lists, target: Lists, prune = false) =>
  stagesOf(planChanges(current, target, { prune }).changes).map((stage) =>
    stage.map(({ of, kind, key }) => `${kind} ${of === "segment" ? "segment " : ""}${key}`),
  );

suite("the order", () => {
  test("prerequisites come first, unreferenced segments are deleted last", () => {
    assert.deepEqual(
      stages(
        {
          flags: [flag("b"), flag("z"), requiring("y", "z"), naming("x", "old")],
          segments: [segment("kept"), segment("old")],
        },
        {
          flags: [
            requiring("a", "c"),
            requiring("b", "d"),
            requiring("c", "d"),
            naming("d", "new"),
          ],
          segments: [segment("new"), segment("kept", { include: ["ann"] })],
        },
        true,
      ),
      [
        ["update segment kept", "create segment new"],
        ["create d"],
        ["update b"],
        ["create c"],
        ["create a"],
        ["delete x", "delete y"],
        ["delete z"],
        ["delete segment old"],
      ],
    );
  });

  test("existing flags change together, prerequisites first", () => {
    assert.deepEqual(
      stages(
        { flags: [flag("a"), flag("b"), flag("c")] },
        { flags: [requiring("a", "c"), requiring("b", "new"), requiring("c", "b"), flag("new")] },
      ),
      [["create new"], ["update b", "update c", "update a"]],
    );
  });

  test("a cycle, which the server rejects, is no endless loop", () => {
    const circle = stages({ flags: [] }, { flags: [requiring("a", "b"), requiring("b", "a")] });
    assert.deepEqual(circle.flat().toSorted(), ["create a", "create b"]);
  });
});

suite("the plan", () => {
  test("segments that a flag still references are not deleted", () => {
    const current = { flags: [naming("kept", "one")], segments: [segment("one"), segment("two")] };
    const { changes } = planChanges(current, { flags: current.flags }, { prune: true });
    assert.deepEqual(
      changes.map(({ key, kind }) => [key, kind]),
      [["two", "delete"]],
    );
    assert.deepEqual(planChanges(current, { flags: [] }).changes, []);
  });

  test("the order of segment members and of object fields does not matter", () => {
    const one = segment("one", {
      include: ["a", "b"],
      when: { attribute: "plan", op: "in", values: ["pro"] },
    });
    const other = segment("one", {
      include: ["b", "a"],
      when: { values: ["pro"], op: "in", attribute: "plan" },
    });
    const { changes, unchanged } = planChanges(
      { flags: [], segments: [one] },
      { flags: [], segments: [other] },
    );
    assert.deepEqual([changes, unchanged], [[], { flags: 0, segments: 1 }]);
  });

  test("fields that are fixed at creation can't change", () => {
    const { changes } = planChanges(
      { flags: [variantFlag()] },
      { flags: [variantFlag({ valueType: "number", variants: { s: 1, l: 2 } })] },
    );
    assert.deepEqual(linesOf(changes), ["! size  valueType string → number: fixed at creation"]);
  });

  test("a new flag gets its required fields in addition to the selected ones", () => {
    const ruled = flag("ruled", {
      otherwise: "off",
      enabled: true,
      rules: [{ id: "one", when: { segment: ["a"] }, serve: "on" }],
    });
    const { changes } = planChanges(
      { flags: [flag("ruled")] },
      { flags: [variantFlag({ enabled: true, owner: "ann" }), ruled] },
      { members: ["rules"] },
    );
    assert.deepEqual(
      changes.map((change) =>
        "flag" in change ? change.flag : "patch" in change ? change.patch : undefined,
      ),
      [{ otherwise: "off", rules: (ruled as { rules?: unknown }).rules }, variantFlag()],
    );
  });

  test("shows rules and lists in detail", () => {
    const rules = (...ids: readonly string[]) =>
      ids.map((id) => ({ id, when: { attribute: "plan", op: "in", values: [id] }, serve: "on" }));
    const { changes } = planChanges(
      {
        flags: [flag("f", { otherwise: "off", rules: rules("a", "b", "c") })],
        segments: [segment("s", { include: ["ann", "bob"] })],
      },
      {
        flags: [
          flag("f", {
            otherwise: "on",
            rules: [...rules("c", "a").map((rule) => ({ ...rule, serve: "off" })), ...rules("d")],
            tags: ["x"],
          }),
        ],
        segments: [segment("s", { include: ["bob", "eve"], description: "New" })],
      },
    );
    assert.deepEqual(linesOf(changes), [
      '~ segment s  description none → "New", include +1 (eve) -1 (ann)',
      "~ f          otherwise off → on, rules ~c: plan in c → off, ~a: plan in a → off, +d: plan in d → on, -b, order c, a, d, tags none → x",
    ]);
  });
});

test("long lists are sent in parts of up to 200 KiB", () => {
  const members = Array.from({ length: 5_000 }, (_, index) => `${"ü".repeat(50)}${index}`);
  const parts = partsOf({ include: { add: members }, exclude: { remove: ["x"] } });
  assert.equal(parts.length, 3);
  for (const part of parts) assert.ok(Buffer.byteLength(JSON.stringify(part)) < 201 * 1_024);
  assert.deepEqual(
    parts.flatMap(({ include }) => include?.add ?? []),
    members,
  );
  assert.deepEqual(parts.at(-1)?.exclude, { remove: ["x"] });
  assert.deepEqual(partsOf({}), []);
});

test("changes are grouped by up to 100, and up to 200 KiB", () => {
  const ready = (count: number, description: string): Ready[] =>
    Array.from({ length: count }, (_, index) => {
      const before = flag(`flag-${index}`);
      const after = { ...before, description };
      const patch = { description };
      return {
        version: 1,
        change: { of: "flag", kind: "update", key: before.key, before, after, patch },
      };
    });
  const sizes = (list: readonly Ready[]) => groupsOf(list).map(({ length }) => length);
  assert.deepEqual(sizes(ready(250, "New")), [100, 100, 50]);
  assert.deepEqual(sizes(ready(5, "x".repeat(60_000))), [3, 2]);
  assert.deepEqual(sizes([]), []);
});
