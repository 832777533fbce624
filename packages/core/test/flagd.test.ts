// Flags as a flagd definition: the content, left out flags with reasons, and engines with another hash function.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { compileFlagd } from "../src/flagd/index.ts";
import type { Flag } from "../src/flags/registry.ts";
import type { Segment } from "../src/targeting/segment.ts";
import { flagdEngine } from "./support/flagd-engine.ts";
import { boolean, planIn, rollout } from "./support/preview-question.ts";

const segment = (key: string, rest: Partial<Segment> = {}): Segment => ({
  key,
  description: null,
  include: [],
  exclude: [],
  when: null,
  ...rest,
});

const compile = (flags: readonly Flag[], segments: readonly Segment[] = []) => {
  const { flags: reports, text } = compileFlagd({ flags, segments }, "production");
  return { reports, text, definition: JSON.parse(text), engine: flagdEngine(text) };
};

const when = (condition: object, rest: Partial<Flag> = {}): Flag =>
  boolean("it", {
    otherwise: "off",
    rules: [{ id: "a", when: condition as never, serve: "on" }],
    ...rest,
  } as Partial<Flag>);

suite("flagd definitions", () => {
  test("a flag that is off is enabled in flagd, and returns its off variant", () => {
    const { reports, definition } = compile([rollout(25, { enabled: false })]);
    assert.deepEqual(reports, [{ key: "checkout", class: "exact", reasons: [] }]);
    assert.deepEqual(definition.flags.checkout, {
      state: "ENABLED",
      variants: { on: true, off: false },
      defaultVariant: "off",
    });
    assert.deepEqual(definition.metadata, { flagSetId: "production", scope: "production" });
  });

  test("in flagd, a rule for everyone matches without an attribute, and its split needs only the key", () => {
    const { engine, reports, definition } = compile(
      [
        when({ all: [] }),
        when({ not: { all: [] } }, { key: "never" }),
        when({ segment: ["all"] }, { key: "in-segment" }),
        boolean("half", {
          otherwise: "off",
          rules: [{ id: "a", when: { all: [] }, serve: [{ variant: "on", share: 100 }] }],
        } as Partial<Flag>),
      ],
      [segment("all", { when: { all: [] } })],
    );
    assert.deepEqual(
      reports.map((each) => each.class),
      ["exact", "exact", "exact", "ascii"],
    );
    assert.equal(definition.flags.it.defaultVariant, "on");
    assert.equal(definition.flags.never.defaultVariant, "off");
    assert.equal(engine.ask("in-segment", {}).value, true);
    assert.equal(engine.ask("half", { targetingKey: "user-1" }).value, true);
    assert.equal(engine.ask("half", {}).isError, true);
  });

  test("a split without its key is an error in flagd", () => {
    const { engine, reports } = compile([rollout(25)]);
    assert.equal(reports[0]?.class, "ascii");
    assert.equal(engine.ask("checkout", { targetingKey: "user-1" }).isError, false);
    for (const context of [{}, { targetingKey: "" }, { targetingKey: 7 }]) {
      assert.equal(engine.ask("checkout", context).isError, true);
    }
  });

  test("an engine with another hash function returns an error, even if only a prerequisite has a split", () => {
    const { text } = compile([
      rollout(50),
      boolean("needs", { requires: [{ flag: "checkout", variant: "on" }] } as Partial<Flag>),
      boolean("plain"),
    ]);
    // The known text is in another bucket, as with a hash of other bytes.
    const other = flagdEngine(text.replace('"halyard:"', '"another:"'));
    const same = flagdEngine(text);
    for (const key of ["checkout", "needs"]) {
      for (let user = 0; user < 20; user += 1) {
        const context = { targetingKey: `user-${user}` };
        assert.equal(same.ask(key, context).isError, false);
        assert.equal(other.ask(key, context).isError, true);
      }
    }
    assert.equal(other.ask("plain", {}).variant, "on");
  });

  test("segments become evaluators, unless an engine would change their text", () => {
    const odd = ["a$&b", "back\\slash", "ü"];
    const segments = [segment("be.ta", { include: ["ann"] }), segment("odd", { include: odd })];
    const { definition, engine, text } = compile([when({ segment: ["be.ta", "odd"] })], segments);
    assert.deepEqual(Object.keys(definition.$evaluators), ["same hash", "in be%2Eta"]);
    assert.equal(text.split("$ref").length, 2);
    for (const targetingKey of ["ann", ...odd]) {
      assert.equal(engine.ask("it", { targetingKey }).variant, "on", targetingKey);
    }
    assert.equal(engine.ask("it", { targetingKey: "bob" }).variant, "off");
  });

  test("an unknown condition and its opposite both don't match", () => {
    const conditions = [
      planIn("pro"),
      { attribute: "plan", op: "in", values: [7] },
      { attribute: "plan", op: "in", values: [true] },
      { attribute: "plan", op: "startsWith", values: ["p"] },
      { attribute: "plan", op: "gte", value: 1 },
    ];
    for (const condition of conditions) {
      for (const each of [condition, { not: condition }]) {
        const { engine } = compile([when(each)]);
        for (const plan of [null, undefined, {}, [null], [{}]]) {
          const found = engine.ask("it", plan === undefined ? {} : { plan });
          assert.equal(found.variant, "off", `${JSON.stringify(each)} for ${JSON.stringify(plan)}`);
        }
      }
    }
  });

  const manyKeys = Array.from({ length: 101 }, (_, index) => `user-${index}`);
  const leftOut: readonly (readonly [reason: RegExp, flag: Flag, segment?: Segment])[] = [
    [/networks/, when({ attribute: "ip", op: "inCidr", values: ["10.0.0.0/8"] })],
    [/moments/, when({ attribute: "at", op: "after", value: "2026-01-01T00:00:00Z" })],
    [/case/, when({ ...planIn("pro"), ignoreCase: true })],
    [/strings to numbers/, when({ attribute: "age", op: "lt", value: 18, as: "number" })],
    [/name/, when({ attribute: "a.b", op: "exists", value: true })],
    [/name/, when({ attribute: "__proto__", op: "exists", value: true })],
    [/name/, when({ attribute: "/company/length", op: "exists", value: true })],
    [/element of a list/, when({ attribute: "/tags/0", op: "exists", value: true })],
    [/more than 100 values/, when(planIn(...manyKeys))],
    [/does not support the operator/, when({ attribute: "a", op: "newer", value: 1 })],
    [/does not support/, { ...boolean("it"), ...{ level: 3 } }],
    [/more than 100 targeting keys/, when({ segment: ["s"] }), segment("s", { include: manyKeys })],
    [
      /The segment s: .*case/,
      when({ segment: ["s"] }),
      segment("s", { when: { ...planIn("pro"), ignoreCase: true } }),
    ],
    [/bucket seed/, rollout(5, { key: "it", bucketSeed: "ü" })],
    [
      /\$ref/,
      {
        ...{ key: "it", type: "variant", valueType: "object", enabled: true, description: null },
        ...{ variants: { a: { $ref: "in s" } }, off: "a", otherwise: "a" },
      },
    ],
    [/not valid/, when({ any: "nothing" })],
  ];
  for (const [reason, flag, named] of leftOut) {
    test(`left out: ${reason.source}`, () => {
      const needs = boolean("needs", {
        requires: [{ flag: "it", variant: "on" }],
      } as Partial<Flag>);
      const { reports, engine } = compile([flag, needs, boolean("other")], named && [named]);
      assert.equal(reports[0]?.class, "left-out");
      assert.match(reports[0]?.reasons.join(" ") ?? "", reason);
      assert.ok(!engine.keys.includes("it"));
      assert.ok(engine.keys.includes("other"));
    });
  }

  test("a flag whose prerequisite is left out is left out too, with the reason", () => {
    const { reports } = compile([
      when({ attribute: "ip", op: "inCidr", values: ["10.0.0.0/8"] }),
      boolean("needs", { requires: [{ flag: "it", variant: "on" }] } as Partial<Flag>),
    ]);
    assert.deepEqual(reports[1]?.reasons, [
      "The prerequisite it: inCidr compares networks, which flagd doesn't support.",
    ]);
  });

  test("a few large prerequisites or segments of many flags do not make the definition endless", () => {
    const values = Array.from({ length: 100 }, (_, index) => String(index).padEnd(1_000, "ü"));
    const large = Array.from({ length: 10 }, (_, index) =>
      boolean(`large-${index}`, {
        rules: [{ id: "a", when: { attribute: "plan", op: "in", values }, serve: "on" }],
      } as Partial<Flag>),
    );
    const requires = large.map(({ key: flag }) => ({ flag, variant: "on" }));
    const everyone = segment("everyone", { when: { attribute: "plan", op: "in", values } });
    const any = Array.from({ length: 15 }, () => ({ segment: ["everyone"] }));
    for (const repeating of [{ requires }, { ...when({ any }) }]) {
      const many = Array.from({ length: 50 }, (_, index) =>
        boolean("", { ...repeating, key: `many-${index}` } as Partial<Flag>),
      );
      const { flags, text } = compileFlagd(
        { flags: [...large, ...many, boolean("other")], segments: [everyone] },
        "production",
      );
      assert.ok(text.length < 20_000_000, `${text.length} characters`);
      assert.equal(flags.at(10)?.class === "left-out", false);
      assert.match(flags.at(-2)?.reasons.join(" ") ?? "", /too large together/);
      assert.equal(flags.at(-1)?.class, "exact");
    }
    const alone = when({ any: [...any, ...any] });
    const { flags } = compileFlagd(
      { flags: [boolean("large", alone as Partial<Flag>)], segments: [everyone] },
      "production",
    );
    assert.match(flags[0]?.reasons.join(" ") ?? "", /up to 2 million characters/);
  });
});
