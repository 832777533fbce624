// Conditions and shares: parsing and formatting on the command line.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { recut } from "@halyard/core/targeting/split";
import { parseCondition } from "../src/terminal/condition.ts";
import { movesBetween, movesText, serve, serveOf, shares } from "../src/terminal/shares.ts";
import { conditionText } from "../src/terminal/targeting-text.ts";

const of = (attribute: string, op: string, more: object) => ({ attribute, op, ...more });

suite("the short form of a condition", () => {
  const forms: [text: string, condition: object, shown?: string][] = [
    ["plan in pro,team", of("plan", "in", { values: ["pro", "team"] })],
    ["plan in pro, team", of("plan", "in", { values: ["pro", "team"] }), "plan in pro,team"],
    ["country notIn RU,BY", of("country", "notIn", { values: ["RU", "BY"] })],
    ["email endsWith @acme.com", of("email", "endsWith", { values: ["@acme.com"] })],
    ["age gte 18", of("age", "gte", { value: 18 })],
    ["app semverGte 2.1.0", of("app", "semverGte", { value: "2.1.0" })],
    [
      "signedUp after 2026-01-01T00:00:00Z",
      of("signedUp", "after", { value: "2026-01-01T00:00:00Z" }),
    ],
    ["ip inCidr 10.0.0.0/8", of("ip", "inCidr", { values: ["10.0.0.0/8"] })],
    ["email exists", of("email", "exists", { value: true })],
    ["email missing", of("email", "exists", { value: false })],
    ["segment beta,staff", { segment: ["beta", "staff"] }],
    ["everyone", { all: [] }],
    ["not everyone", { not: { all: [] } }],
    ["everyone exists", of("everyone", "exists", { value: true })],
    ["not segment beta", { not: { segment: ["beta"] } }],
    ["not not plan in a", { not: { not: of("plan", "in", { values: ["a"] }) } }],
    ["level in 7,8", of("level", "in", { values: [7, 8] })],
    ["vip in true", of("vip", "in", { values: [true] })],
    ['level in "7"', of("level", "in", { values: ["7"] })],
    ['name in "a,b",c d', of("name", "in", { values: ["a,b", "c d"] })],
    ["name contains 7", of("name", "contains", { values: ["7"] })],
    ["/company/id in 1", of("/company/id", "in", { values: [1] })],
    ["segment in a", of("segment", "in", { values: ["a"] })],
  ];
  for (const [text, condition, shown = text] of forms) {
    test(text, () => {
      assert.deepEqual(parseCondition(text), condition);
      assert.equal(conditionText(parseCondition(text)), shown);
      assert.deepEqual(parseCondition(shown), condition, "what is shown can be given");
    });
  }

  test("JSON, and the format of several conditions", () => {
    const plan = of("plan", "in", { values: ["pro"], ignoreCase: true });
    const all = {
      all: [plan, { not: { any: [{ segment: ["a"] }, of("x", "gt", { value: 1 })] } }],
    };
    const parsed = parseCondition(JSON.stringify(all));
    assert.deepEqual(parsed, all);
    assert.equal(conditionText(parsed), "plan in pro (in any case) and not (segment a or x gt 1)");
    assert.equal(conditionText(parseCondition('{"all":[]}')), "everyone");
    assert.equal(
      conditionText({ any: [{ all: [] }, { segment: ["a"] }] }),
      "everyone or segment a",
    );
  });

  const mistakes: [text: string, message: RegExp][] = [
    ["", /must be JSON, or an attribute, an operator and values, such as 'plan in pro,team'/],
    ["plan", /must be JSON, or an attribute, an operator and values/],
    [
      "plan is pro",
      /"is" is not an operator: the attribute must be followed by one of exists, in,/,
    ],
    ["plan in", /in must be followed by one or more values/],
    ["plan in a,,b", /in must be followed by one or more values/],
    ["plan in a,", /in must be followed by one or more values/],
    ["age gte old", /gte must be followed by a number, not "old"/],
    ["age gte", /gte must be followed by a value/],
    ["email exists yes", /exists takes no value/],
    ["not", /not must be followed by a condition/],
    ["segment", /segment must be followed by one or more values/],
    ["app semverGte two", /value must be a semantic version such as 1\.4\.0/],
    ["ip inCidr 10.0.0.1/8", /values must be a list of 1 to 100 networks/],
    ["signedUp after yesterday", /value must be a time with a zone/],
    ["level in 7,high", /all of one type; write '"7"' for the string 7/],
    ["{", /starts like JSON, but is not valid JSON/],
    ['{"any":[]}', /any must be a list of at least one condition/],
    ['{"attribute":"a","op":"like"}', /op must be one of exists, in,/],
    ['{"all":[{"attribute":"a","op":"gt"}]}', /all\[0\]\.value must be a number/],
  ];
  for (const [text, message] of mistakes) {
    test(`refused: ${text || "nothing"}`, () => {
      assert.throws(() => parseCondition(text), { code: "commander.invalidArgument", message });
    });
  }
});

suite("shares", () => {
  test("are separate arguments or separated by commas", () => {
    const both = [
      { variant: "red", share: 25 },
      { variant: "blue", share: 75 },
    ];
    assert.deepEqual(shares("red=25,blue=75%"), both);
    assert.deepEqual(shares("blue=75", shares("red=25")), both);
    assert.deepEqual(serve("red=25,blue=75"), both);
    assert.equal(serve("red"), "red");
    assert.equal(serveOf(shares("red=100")), "red");
    for (const wrong of ["red", "red=", "=5", "red=25,", "red=101", "red=a lot"]) {
      assert.throws(() => shares(wrong), { code: "commander.invalidArgument" }, wrong);
    }
    assert.throws(() => serve(" "), { code: "commander.invalidArgument" });
  });

  test("users who move between two splits", () => {
    const moves = (before: string, after: string) =>
      movesText(movesBetween(shares(before), shares(after)));
    assert.equal(moves("a=50,b=50", "a=50,b=50"), "No users change variants.");
    assert.equal(moves("a=50,b=50", "a=25,b=75"), "25% of users move from a to b.");
    assert.equal(
      moves("a=50,b=50", "b=50,a=50"),
      "100% of users move: 50% from a to b, 50% from b to a.",
    );
    assert.equal(moves("a=10", "a=25"), "15% of users move from later rules to a.");
    const before = shares("a=34,b=33,c=33");
    const after = recut(before, { a: 40, b: 30, c: 30 });
    assert.equal(
      movesText(movesBetween(before, after)),
      "6% of users move: 3% from b to a, 3% from c to a.",
    );
  });
});
