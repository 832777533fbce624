// Reads and parses of context values, and the work of rules.
import assert from "node:assert/strict";
import { test } from "node:test";
import { evaluate } from "../src/evaluate.ts";
import { newFlag } from "../src/flags/change.ts";
import { type Flag, prepare } from "../src/flags/registry.ts";
import { checkSegment } from "../src/targeting/check-segment.ts";
import type { Condition } from "../src/targeting/conditions/condition.ts";
import { parseVersion } from "../src/targeting/conditions/semver.ts";
import { collectErrors } from "../src/targeting/mistakes.ts";
import { compileSegment } from "../src/targeting/segment.ts";
import { Turn } from "../src/targeting/turn.ts";
import { maxWork, workOfCondition } from "../src/targeting/work.ts";

const flagWith = (when: readonly Condition[], key = "a"): Flag => ({
  ...{ key, type: "boolean", enabled: true, description: null, otherwise: "off" },
  rules: when.map((each, index) => ({ id: `r${index}`, when: each, serve: "on" })),
});

/** A list that counts reads of its elements. */
const counted = (values: readonly unknown[]) => {
  const reads = { count: 0 };
  const list = new Proxy([...values], {
    get(target, name, receiver) {
      if (/^\d+$/.test(String(name))) reads.count += 1;
      return Reflect.get(target, name, receiver);
    },
  });
  return { list, reads };
};

test("a list is read once per context, however many flags and conditions use it", () => {
  const { list, reads } = counted(Array.from({ length: 1_000 }, (_, index) => `Group-${index}`));
  const turn = new Turn();
  const context = { targetingKey: "u", groups: list };
  for (let index = 0; index < 200; index += 1) {
    const flag = flagWith([
      { attribute: "groups", op: "in", values: [`other-${index}`], ignoreCase: true },
      { attribute: "groups", op: "notIn", values: ["GROUP-7"], ignoreCase: true },
      { attribute: "groups", op: "in", values: [`group-${index}`], ignoreCase: true },
    ]);
    const result = evaluate(prepare(flag), context, turn);
    assert.equal("rule" in result && result.rule, "r2");
  }
  assert.equal(reads.count, 1_000);
});

test("lists have the same results with and without a turn", () => {
  const text = "é".repeat(20);
  const lists: readonly (readonly unknown[])[] = [
    [],
    ["a", "b", "c", "D", text],
    ["a", "b", "c", 1, null],
    [1, 2, 3, 4, 5.5, -0],
    [true, true, false, true],
    ["x".repeat(1_025), "a", "b", "c"],
    Array.from({ length: 1_001 }, () => "a"),
    Array.from({ length: 70 }, () => "x".repeat(1_000)),
    Array.from({ length: 65 }, () => "x".repeat(1_000)),
  ];
  const wanted = [["a"], ["d"], ["z"], [1], [0], [9], [true], [false], ["x".repeat(1_000)]];
  let unknown = 0;
  for (const values of wanted) {
    for (const op of ["in", "notIn"]) {
      for (const ignoreCase of typeof values[0] === "string" ? [true, false] : [false]) {
        const is: Condition = { attribute: "list", op, values, ...(ignoreCase && { ignoreCase }) };
        const flag = prepare(flagWith([is, { not: is }]));
        for (const list of lists) {
          const alone = evaluate(flag, { list });
          assert.deepEqual(evaluate(flag, { list }, new Turn()), alone, JSON.stringify([is, list]));
          if ("reason" in alone && alone.reason === "DEFAULT") unknown += 1;
        }
      }
    }
  }
  assert.ok(unknown > 0);
});

test("a list of more than 65,536 characters is unknown", () => {
  const isIn = (length: number) =>
    evaluate(prepare(flagWith([{ attribute: "list", op: "in", values: ["a"] }])), {
      list: ["a", ...Array.from({ length: 65 }, () => "x".repeat(length))],
    });
  assert.equal((isIn(1_008) as { value: unknown }).value, true);
  assert.equal((isIn(1_009) as { value: unknown }).value, false);
});

test("a segment is decided once per context, and so is a prerequisite", () => {
  const { list, reads } = counted(["a"]);
  const segment = compileSegment({
    include: new Set(),
    exclude: new Set(),
    when: { attribute: "list", op: "in", values: ["b"] },
  });
  const environment = {
    segment: () => segment,
    flag: () => prepare(flagWith([{ attribute: "list", op: "in", values: ["a"] }]), undefined),
  };
  const flag = {
    ...flagWith([{ segment: ["s"] }, { not: { segment: ["s", "t"] } }]),
    requires: [{ flag: "below", variant: "on" }],
  };
  const prepared = prepare(flag, 2, environment);
  const turn = new Turn();
  for (let round = 0; round < 10; round += 1) evaluate(prepared, { list }, turn);
  // Once for the segment, once for the flag.
  assert.equal(reads.count, 2);
});

test("a string is parsed once per turn", () => {
  const turn = new Turn();
  let parsed = 0;
  const parse = (text: string) => {
    parsed += 1;
    return parseVersion(text);
  };
  const long = `1.0.0-${"a.".repeat(400)}a`;
  for (let round = 0; round < 100; round += 1) turn.parse(parse, long);
  assert.equal(parsed, 1);
});

test("a bucketing value of more than 1,024 characters counts as missing", () => {
  const flag: Flag = {
    ...{ key: "a", type: "rollout", enabled: true, description: null, percentage: 50 },
    bucketBy: "company",
  };
  const evaluated = (length: number) => evaluate(prepare(flag), { company: "c".repeat(length) });
  assert.ok("value" in evaluated(1_024));
  assert.ok("errorCode" in evaluated(1_025));
});

test("work counts values, their characters and the steps of a pointer", () => {
  const few = workOfCondition({ attribute: "a", op: "in", values: ["x"] });
  assert.ok(workOfCondition({ attribute: "a", op: "in", values: ["x", "y"] }) > few);
  assert.ok(workOfCondition({ attribute: "/a/b/c", op: "in", values: ["x"] }) > few);
  assert.ok(workOfCondition({ attribute: "a", op: "contains", values: ["x"] }) > 10 * few);
  assert.equal(workOfCondition({ attribute: "a", op: "of a newer version" }), 0);
});

test("rules and segments that take too much work are rejected", () => {
  const values = (count: number) => Array.from({ length: count }, (_, index) => `value-${index}`);
  const contains = (count: number) => ({ attribute: "a", op: "contains", values: values(count) });
  const flagOf = (conditions: number) =>
    newFlag({
      ...{ key: "a", type: "boolean", otherwise: "off" },
      rules: [{ id: "r", when: { any: Array(conditions).fill(contains(50)) }, serve: "on" }],
    });
  assert.equal(flagOf(3).ok, true);
  const refused = flagOf(4);
  assert.equal(refused.ok, false);
  assert.match(refused.ok ? "" : (refused.errors[0]?.message ?? ""), /at most 250,000 steps/);
  const errors = collectErrors();
  checkSegment({ when: { any: Array(4).fill(contains(50)) } }, errors, false);
  assert.deepEqual(
    errors.found.map(({ place }) => place),
    ["when"],
  );
  // The maximum list in a flag of 128 KiB.
  const list = { attribute: "a", op: "in", values: values(1_000) };
  assert.ok(workOfCondition({ any: Array(10).fill(list) }) < maxWork);
});
