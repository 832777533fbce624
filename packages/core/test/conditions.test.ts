// Conditions: every operator with missing, null, differently typed, listed, nested and boundary values.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { inspect } from "node:util";
import type { EvaluationContext } from "../src/context.ts";
import { evaluate } from "../src/evaluate.ts";
import { prepare } from "../src/flags/registry.ts";
import { ownMembersOf } from "../src/targeting/conditions/attribute.ts";
import { checkCondition } from "../src/targeting/conditions/check-condition.ts";
import { type Condition, compileCondition } from "../src/targeting/conditions/condition.ts";
import { collectErrors } from "../src/targeting/mistakes.ts";
import { compileSegment } from "../src/targeting/segment.ts";

const names = ["false", "unknown", "true"] as const;
const decide = (condition: Condition, context: EvaluationContext): string => {
  const segments = { staff: ["ann"], empty: [] as string[] };
  const test = compileCondition(condition, (key) =>
    key in segments
      ? compileSegment({
          include: new Set(segments[key as keyof typeof segments]),
          exclude: new Set(),
          when: null,
        })
      : undefined,
  );
  return names[test(ownMembersOf(context))] ?? "";
};
const at = (op: string, rest: object, value: unknown): string =>
  decide({ attribute: "x", op, ...rest } as Condition, value === undefined ? {} : { x: value });

type Row = readonly [op: string, given: object, value: unknown, expected: (typeof names)[number]];
const table = (name: string, rows: readonly Row[]): void => {
  test(name, () => {
    for (const [op, given, value, expected] of rows) {
      const shown = `${op} ${JSON.stringify(given)} of ${inspect(value)}`;
      const errors = collectErrors();
      const rules = { errors, budget: { conditions: 200 }, mayNameSegments: true };
      checkCondition({ attribute: "x", op, ...given }, "when", rules);
      assert.deepEqual(errors.found, [], shown);
      assert.equal(at(op, given, value), expected, shown);
    }
  });
};

const others = (op: string, given: object, values: readonly unknown[]): Row[] =>
  values.map((value): Row => [op, given, value, "unknown"]);

table("exists", [
  ["exists", { value: true }, "a", "true"],
  ["exists", { value: true }, "", "true"],
  ["exists", { value: true }, 0, "true"],
  ["exists", { value: true }, false, "true"],
  ["exists", { value: true }, [], "true"],
  ["exists", { value: true }, null, "false"],
  ["exists", { value: true }, undefined, "false"],
  ["exists", { value: true }, Number.NaN, "false"],
  ["exists", { value: false }, null, "true"],
  ["exists", { value: false }, undefined, "true"],
  ["exists", { value: false }, "a", "false"],
]);

table("in and notIn", [
  ["in", { values: ["a", "b"] }, "b", "true"],
  ["in", { values: ["a", "b"] }, "B", "false"],
  ["in", { values: ["a", "b"], ignoreCase: true }, "B", "true"],
  ["in", { values: ["É"], ignoreCase: true }, "é", "false"],
  ["in", { values: [1, 2] }, 2, "true"],
  ["in", { values: [0] }, -0, "true"],
  ["in", { values: [true] }, false, "false"],
  ...others("in", { values: ["1"] }, [1, true, null, undefined, {}, [1], [null], [["1"]]]),
  ...others("in", { values: [1] }, ["1", Number.NaN, Number.POSITIVE_INFINITY, 1n]),
  ["in", { values: ["a"] }, [], "false"],
  ["in", { values: ["a"] }, ["b", "a"], "true"],
  ["in", { values: ["a"] }, [1, "a"], "true"],
  ["in", { values: ["a"] }, [1, "b"], "unknown"],
  ["in", { values: ["a"] }, ["b"], "false"],
  ["in", { values: ["2026-11-14T12:00:00.000Z"] }, new Date("2026-11-14T12:00:00Z"), "true"],
  ["in", { values: Array.from({ length: 1_000 }, (_, n) => `k${n}`) }, "k999", "true"],
  ["in", { values: Array.from({ length: 1_000 }, (_, n) => `k${n}`) }, "k1000", "false"],
  ["notIn", { values: ["a"] }, "b", "true"],
  ["notIn", { values: ["a"] }, "a", "false"],
  ["notIn", { values: ["a"] }, [], "true"],
  ["notIn", { values: ["a"] }, ["b", "a"], "false"],
  ...others("notIn", { values: ["a"] }, [undefined, null, 1, ["b", 1]]),
]);

table("startsWith, endsWith, contains", [
  ["startsWith", { values: ["a", "be"] }, "beta", "true"],
  ["startsWith", { values: ["be"] }, " beta", "false"],
  ["endsWith", { values: ["@acme.com"], ignoreCase: true }, "Ann@ACME.com", "true"],
  ["endsWith", { values: ["@acme.com"] }, "Ann@ACME.com", "false"],
  ["contains", { values: ["☃"] }, "a☃b", "true"],
  ["contains", { values: ["x"] }, "", "false"],
  ...others("contains", { values: ["a"] }, [["a"], 1, null, undefined, { a: "a" }]),
]);

table("numbers", [
  ["lt", { value: 5 }, 4.9, "true"],
  ["lt", { value: 5 }, 5, "false"],
  ["lte", { value: 5 }, 5, "true"],
  ["gt", { value: -1 }, -0, "true"],
  ["gte", { value: 5 }, 4, "false"],
  ["gte", { value: 5, as: "number" }, "5.0", "true"],
  ["lt", { value: 5, as: "number" }, "-12", "true"],
  ...others("gt", { value: 1, as: "number" }, [
    "05",
    "+5",
    "5.",
    ".5",
    "1e3",
    "",
    " 5",
    "0x10",
    "9".repeat(400),
  ]),
  ...others("gt", { value: 1 }, [
    "5",
    null,
    undefined,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    [5],
    true,
    5n,
  ]),
]);

table("semantic versions", [
  ["semverEq", { value: "1.2.0" }, "v1.2", "true"],
  ["semverEq", { value: "1" }, "V1.0.0+build.7", "true"],
  ["semverLt", { value: "1.10.0" }, "1.9.9", "true"],
  ["semverLt", { value: "1.0.0" }, "1.0.0-rc.1", "true"],
  ["semverGt", { value: "1.0.0-alpha" }, "1.0.0-alpha.1", "true"],
  ["semverGt", { value: "1.0.0-alpha.9" }, "1.0.0-alpha.10", "true"],
  ["semverGt", { value: "1.0.0-alpha.99" }, "1.0.0-alpha.a", "true"],
  ["semverGte", { value: "2.0.0" }, "2.0.0", "true"],
  ["semverLte", { value: "2.0.0" }, "2.0.1", "false"],
  ["semverGt", { value: "90071992547409920.0.0" }, "90071992547409921.0.0", "true"],
  ...others("semverGt", { value: "1.0.0" }, [
    "1.2-beta",
    "1.2+5",
    "01.2.3",
    "1.2.3.4",
    "1.2.3-",
    "1.2.3-01",
    "1.2.3+",
    "1..2",
    "",
    "vv1",
    " 1.2.3",
    1,
    null,
    undefined,
  ]),
]);

table("times", [
  ["before", { value: "2026-11-14T12:00:00Z" }, "2026-11-14T11:59:59.999Z", "true"],
  ["before", { value: "2026-11-14T12:00:00Z" }, "2026-11-14T12:00:00.0009Z", "false"],
  ["after", { value: "2026-11-14T12:00:00Z" }, "2026-11-14T12:00:00.0009Z", "false"],
  ["after", { value: "2026-11-14T12:00:00Z" }, "2026-11-14t14:00:00.001+02:00", "true"],
  ["before", { value: "0100-01-01T00:00:00Z" }, "0099-12-31T23:59:59Z", "true"],
  ["after", { value: "2026-11-14T12:00:00Z" }, new Date("2026-11-14T12:00:01Z"), "true"],
  ...others("after", { value: "2026-11-14T12:00:00Z" }, [
    "2026-11-14",
    "2026-11-14T12:00:00",
    "2026-02-29T00:00:00Z",
    "2026-11-14T24:00:00Z",
    "2026-12-31T23:59:60Z",
    "2026-11-14 12:00:00Z",
    1_800_000_000,
    new Date(Number.NaN),
    null,
    undefined,
  ]),
]);

table("networks", [
  ["inCidr", { values: ["10.0.0.0/8"] }, "10.255.0.1", "true"],
  ["inCidr", { values: ["10.0.0.0/8"] }, "11.0.0.0", "false"],
  ["inCidr", { values: ["10.0.0.0/8"] }, "::ffff:10.1.2.3", "true"],
  ["inCidr", { values: ["::ffff:10.0.0.0/104"] }, "10.1.2.3", "true"],
  ["inCidr", { values: ["10.0.0.0/8"] }, "2001:db8::1", "false"],
  ["inCidr", { values: ["2001:db8::/32"] }, "2001:DB8:ffff::", "true"],
  ["inCidr", { values: ["2001:db8::/33"] }, "2001:db8:8000::", "false"],
  ["inCidr", { values: ["0.0.0.0/0", "::/0"] }, "::1", "true"],
  ["inCidr", { values: ["192.0.2.7/32"] }, "192.0.2.7", "true"],
  ...others("inCidr", { values: ["10.0.0.0/8"] }, [
    "10.1.2",
    "010.1.2.3",
    "10.1.2.3/32",
    "fe80::1%eth0",
    ":::",
    "1::2::3",
    "",
    "1:2:3:4:5:6:7",
    "::10.1.2.256",
    10,
    null,
    undefined,
  ]),
]);

suite("attributes", () => {
  const among = (attribute: string, context: EvaluationContext): string =>
    decide({ attribute, op: "in", values: ["yes"] }, context);

  test("a JSON Pointer begins with a slash; every other name is literal", () => {
    assert.equal(among("/company/plan", { company: { plan: "yes" } }), "true");
    assert.equal(among("/roles/1", { roles: ["no", "yes"] }), "true");
    assert.equal(among("/roles/01", { roles: ["no", "yes"] }), "unknown");
    assert.equal(among("/roles/length", { roles: ["yes"] }), "unknown");
    assert.equal(among("/a~1b/~0", { "a/b": { "~": "yes" } }), "true");
    assert.equal(among("company.plan", { "company.plan": "yes" }), "true");
    assert.equal(among("company.plan", { company: { plan: "yes" } }), "unknown");
    assert.equal(among("/", { "": "yes" }), "true");
    assert.equal(among("/a/b/c", { a: "yes" }), "unknown");
  });

  test("only own fields count, whatever their names", () => {
    const inherited = Object.create({ plan: "yes" }) as EvaluationContext;
    assert.equal(among("plan", inherited), "unknown");
    assert.equal(decide({ attribute: "constructor", op: "exists", value: true }, {}), "false");
    assert.equal(
      among("__proto__", JSON.parse('{"__proto__":"yes"}') as EvaluationContext),
      "true",
    );
  });

  test("a flag's rules use only own fields, except the targeting key", () => {
    const yes = (attribute: string): Condition => ({ attribute, op: "in", values: ["yes"] });
    const gives = (when: Condition, context: EvaluationContext): unknown => {
      const rules = [{ id: "a", when, serve: [{ variant: "on", share: 100 }] }];
      const flag = { key: "f", type: "boolean", enabled: true, description: null } as const;
      const evaluation = evaluate(prepare({ ...flag, rules, otherwise: "off" }, 2), context);
      return "value" in evaluation ? evaluation.value : evaluation.errorCode;
    };
    const both: Condition = { all: [yes("plan"), yes("beta")] };
    const members = { plan: "yes", beta: "yes" };
    const own: EvaluationContext = { ...members, targetingKey: "ann" };
    assert.equal(gives(both, own), true);
    assert.equal(gives(both, Object.assign(Object.create(null), own)), true);
    assert.equal(gives(both, Object.assign(Object.create({ targetingKey: "ann" }), members)), true);
    assert.equal(
      gives(both, Object.assign(Object.create({ beta: "yes" }), { plan: "yes" })),
      false,
    );
    assert.equal(gives(both, Object.create(own) as EvaluationContext), false);
    assert.equal(gives({ all: [yes("plan"), yes("toString")] }, own), false);
    assert.equal(gives({ any: [yes("beta"), yes("plan")] }, Object.create(own)), false);
  });

  test("values are read as JSON would contain them, at every depth", () => {
    const written = { toJSON: () => "yes" };
    assert.equal(among("a", { a: written }), "true");
    assert.equal(among("/a/b", { a: { toJSON: () => ({ b: "yes" }) } }), "true");
    assert.equal(among("a", { a: [written] }), "true");
    assert.equal(among("a", { a: () => "yes" }), "unknown");
  });
});

test("all, any and not support the value unknown", () => {
  const yes: Condition = { attribute: "a", op: "exists", value: true };
  const no: Condition = { attribute: "a", op: "exists", value: false };
  const unknown: Condition = { attribute: "b", op: "in", values: ["x"] };
  const is = (condition: Condition) => decide(condition, { a: 1 });
  assert.deepEqual(
    [yes, no, unknown].map((condition) => is({ not: condition })),
    ["false", "true", "unknown"],
  );
  for (const [one, other, all, any] of [
    [yes, unknown, "unknown", "true"],
    [no, unknown, "false", "unknown"],
    [yes, no, "false", "true"],
    [unknown, unknown, "unknown", "unknown"],
  ] as const) {
    assert.deepEqual([is({ all: [one, other] }), is({ all: [other, one] })], [all, all]);
    assert.deepEqual([is({ any: [one, other] }), is({ any: [other, one] })], [any, any]);
  }
});

test("segments: excluded, included, matched, and unknown", () => {
  const segment = compileSegment({
    include: new Set(["ann", "bob"]),
    exclude: new Set(["bob"]),
    when: { attribute: "plan", op: "in", values: ["pro"] },
  });
  const is = (context: EvaluationContext) => names[segment(context)];
  assert.equal(is({ targetingKey: "ann" }), "true");
  assert.equal(is({ targetingKey: "bob", plan: "pro" }), "false");
  assert.equal(is({ targetingKey: "cy", plan: "pro" }), "true");
  assert.equal(is({ targetingKey: "cy", plan: "free" }), "false");
  assert.equal(is({ targetingKey: "cy" }), "unknown");
  assert.equal(is({ plan: "pro" }), "unknown");
  assert.equal(decide({ segment: ["empty", "staff"] }, { targetingKey: "ann" }), "true");
  assert.equal(decide({ segment: ["empty"] }, {}), "false");
  assert.equal(decide({ not: { segment: ["gone"] } }, { targetingKey: "ann" }), "unknown");
});
