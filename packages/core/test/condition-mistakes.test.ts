// Invalid conditions: every error with its place.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { checkCondition } from "../src/targeting/conditions/check-condition.ts";
import { collectErrors } from "../src/targeting/mistakes.ts";

suite("errors are reported with their place", () => {
  const mistakesOf = (condition: unknown, mayNameSegments = true): string[] => {
    const errors = collectErrors();
    checkCondition(condition, "when", { errors, budget: { conditions: 200 }, mayNameSegments });
    return errors.found.map(({ place, message }) => `${place} ${message}`);
  };
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [null, /^when must be a condition/],
    [{}, /^when must be a condition/],
    [{ all: [], any: [] }, /^when must be a condition/],
    [{ any: [] }, /^when\.any must be a list of at least one condition/],
    [{ not: { any: [] } }, /^when\.not\.any must be a list of at least one condition/],
    [{ all: {} }, /^when\.all must be a list of conditions/],
    [{ all: [], more: 1 }, /^when\.more is not a known field/],
    [{ any: [{ attribute: "", op: "exists", value: true }] }, /^when\.any\[0\]\.attribute must be/],
    [{ attribute: "/a~2", op: "exists", value: true }, /^when\.attribute must be/],
    [{ attribute: "a", op: "matches", values: ["(a+)+"] }, /^when\.op must be one of exists, in/],
    [{ attribute: "a", op: "toString" }, /^when\.op must be one of/],
    [{ attribute: "a", op: "in", values: ["a", 1] }, /^when\.values .* all of one type/],
    [{ attribute: "a", op: "in", values: [1], ignoreCase: true }, /^when\.values must be strings/],
    [{ attribute: "a", op: "in", values: Array(1_001).fill("a") }, /^when\.values .* 1 to 1,000/],
    [{ attribute: "a", op: "contains", values: [""] }, /^when\.values .* non-empty/],
    [{ attribute: "a", op: "lt", value: "5" }, /^when\.value must be a number/],
    [{ attribute: "a", op: "lt", value: 5, as: "date" }, /^when\.as must be "number"/],
    [{ attribute: "a", op: "lt", value: 5, values: [5] }, /^when\.values is not a known field/],
    [
      { attribute: "a", op: "semverLt", value: "1.2-beta" },
      /^when\.value must be a semantic version/,
    ],
    [
      { attribute: "a", op: "before", value: "2026-11-14" },
      /^when\.value must be a time with a zone/,
    ],
    [{ attribute: "a", op: "inCidr", values: ["10.0.0.1/8"] }, /^when\.values .* networks/],
    [{ segment: [] }, /^when\.segment must be a list of 1 to 20/],
  ];
  for (const [condition, message] of cases) {
    test(JSON.stringify(condition).slice(0, 60), () => {
      assert.match(mistakesOf(condition)[0] ?? "no mistake", message);
    });
  }

  test("too deep, too many, and at most twenty errors", () => {
    const deep = (levels: number): unknown =>
      levels === 1 ? { attribute: "a", op: "exists", value: true } : { not: deep(levels - 1) };
    assert.deepEqual(mistakesOf(deep(6)), []);
    assert.match(mistakesOf(deep(7))[0] ?? "", /^when(\.not){6} is too deep/);
    assert.match(mistakesOf(deep(5_000))[0] ?? "", /is too deep/);
    const leaf = { attribute: "a", op: "exists", value: true };
    assert.deepEqual(mistakesOf({ any: Array(199).fill(leaf) }), []);
    assert.match(mistakesOf({ any: Array(200).fill(leaf) })[0] ?? "", /^when\.any\[199\] is one/);
    assert.equal(mistakesOf({ any: Array(150).fill({}) }).length, 20);
  });

  test("a condition that is always true is valid at any level, and counts as one", () => {
    const everyone = { all: [] };
    const nested = (levels: number): unknown =>
      levels === 1 ? everyone : { not: nested(levels - 1) };
    for (const condition of [everyone, { any: [everyone] }, { all: [everyone] }, nested(6)]) {
      assert.deepEqual(mistakesOf(condition), [], JSON.stringify(condition));
      assert.deepEqual(mistakesOf(condition, false), [], JSON.stringify(condition));
    }
    assert.match(mistakesOf(nested(7))[0] ?? "", /is too deep/);
    assert.match(
      mistakesOf({ any: Array(200).fill(everyone) })[0] ?? "",
      /^when\.any\[199\] is one/,
    );
  });

  test("a segment can't reference another one", () => {
    assert.match(mistakesOf({ segment: ["a"] }, false)[0] ?? "", /must not reference a segment/);
  });
});
