// What editing does to rules and conditions: mistakes and their names, ids, trees of groups, operators, suggestions, moments.
import assert from "node:assert/strict";
import { test } from "node:test";
import { applyPatch } from "@halyard/core/flags/change";
import type { Flag } from "@halyard/core/flags/registry";
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import type { AttributeCondition } from "@halyard/core/targeting/conditions/operators";
import type { Rule } from "@halyard/core/targeting/targeting";
import { collectNames } from "../src/targeting/collect-names.ts";
import {
  asKind,
  kindOf,
  levelsOf,
  withAnother,
  wrapped,
} from "../src/targeting/conditions/condition-tree.ts";
import { momentOf, partsOfMoment } from "../src/targeting/conditions/moment-text.ts";
import {
  asType,
  inputOf,
  typeMistake,
  typeOfValues,
  withOperator,
} from "../src/targeting/conditions/operator-inputs.ts";
import { moved } from "../src/targeting/row-keys.ts";
import {
  copyOf,
  isFilledIn,
  isUnderstood,
  mistakesIn,
  nameOfPlace,
  newRule,
  patchOf,
  readTargeting,
  withRules,
} from "../src/targeting/rules/targeting-draft.ts";

const plan: Condition = { attribute: "plan", op: "in", values: ["pro", "team"] };
const flag = (rules: readonly Rule[] | undefined, more: object = {}): Flag =>
  ({
    key: "f",
    type: "boolean",
    enabled: true,
    description: null,
    ...(rules && { rules, otherwise: "off" }),
    ...more,
  }) as Flag;
const rule = (id: string, values: readonly string[] = [id]): Rule => ({
  id,
  when: { attribute: "plan", op: "in", values },
  serve: "on",
});

test("mistakes are found as the server finds them, and named for people", () => {
  const base = flag([rule("a")]);
  const wrong = {
    members: {
      rules: [
        {
          ...rule("a"),
          when: { all: [plan, { any: [{ attribute: "n", op: "lt", value: "x" }] }] },
        },
      ],
      otherwise: "off",
    },
  };
  const [mistake] = mistakesIn(base, wrong);
  assert.deepEqual(mistake, {
    place: "rules[0].when.all[1].any[0].value",
    message: "must be a number",
  });
  assert.equal(nameOfPlace(mistake?.place ?? "", [rule("a")]), "Rule a, condition 2.1, value");
  assert.equal(nameOfPlace("rules[1].serve[0].share", [rule("a")]), "Rule 2, serve, share");
  assert.equal(nameOfPlace("otherwise", []), "Everyone else");
  assert.equal(isFilledIn(wrong.members, "rules[0].when.all[1].any[0].value"), true);
  assert.equal(isFilledIn({ rules: [{ when: { values: [] } }] }, "rules[0].when.values"), false);
  assert.equal(isFilledIn({ rules: [] }, "otherwise"), false);
  assert.equal(isUnderstood(base), true);
  assert.equal(isUnderstood(flag([{ ...rule("a"), note: 1 } as Rule])), false);
});

test("rules come with free ids, and the last one takes otherwise along", () => {
  const members = readTargeting(flag([rule("rule-1")], { bucketBy: "team" })).members;
  assert.equal(newRule(flag(undefined), [rule("rule-1")]).id, "rule-2");
  assert.equal(copyOf(rule("a"), [rule("a"), rule("a-copy")]).id, "a-copy-2");
  assert.deepEqual(withRules("boolean", members, []), { bucketBy: "team" });
  assert.deepEqual(moved(["a", "b", "c"], 0, 2), ["b", "c", "a"]);
});

test("rules alone leave alone what has a form of its own", () => {
  const labels = { owner: "shop", tags: ["q4"], requires: [{ flag: "x", variant: "on" }] };
  const before = flag([rule("a")], { ...labels, bucketBy: "team" });
  assert.deepEqual(Object.keys(readTargeting(before).members), ["otherwise", "rules", "bucketBy"]);
  const changed = applyPatch(
    before,
    patchOf("boolean", { members: { rules: [rule("b")], otherwise: "off" } }),
  );
  assert.deepEqual(changed.ok && changed.flag, flag([rule("b")], labels));
});

test("names are suggested from rules and segments, whoever has written them", () => {
  const names = collectNames({
    flags: [
      flag([rule("pro"), rule("team")], { bucketBy: "/company/id" }),
      { rules: [{ id: "odd", when: { moon: 1 }, serve: "on" }, null] as unknown as Rule[] },
    ],
    segments: [
      {
        key: "z",
        when: { not: { any: [{ attribute: "country", op: "in", values: ["DE", "DE"] }] } },
      },
      { key: "b", when: null },
      { key: "c", when: { attribute: "targetingKey", op: "in", values: ["user-1"] } },
    ],
  });
  assert.deepEqual(names.attributes, ["targetingKey", "/company/id", "country", "plan"]);
  assert.deepEqual(names.valuesOf("plan"), ["pro", "team"]);
  assert.deepEqual(names.valuesOf("country"), ["DE"]);
  assert.deepEqual(names.valuesOf("targetingKey"), [], "people are not suggested");
  assert.deepEqual(names.segments, ["b", "c", "z"]);
});

test("a condition becomes a group and stops being one; what is not known stays", () => {
  assert.deepEqual(withAnother(plan, { segment: ["a"] }), { all: [plan, { segment: ["a"] }] });
  assert.deepEqual(withAnother({ any: [plan] }, plan), { any: [plan, plan] });
  assert.equal(levelsOf(wrapped(wrapped(plan, "not"), "any")), 3);
  assert.deepEqual(asKind({ all: [plan], note: 1 } as Condition, "any"), { any: [plan], note: 1 });
  assert.deepEqual([plan, { all: [] }, { segment: [] }].map(kindOf), [
    "attribute",
    "everyone",
    "segment",
  ]);
  assert.deepEqual(withAnother({ all: [] }, plan), plan, "everyone is narrowed to the condition");
  assert.equal(levelsOf({ not: { all: [] } }), 2);
  const odd = [{ segment: "x" }, { segment: [1] }, { all: [], any: [] }, 7];
  for (const each of odd) assert.equal(kindOf(each), "unknown");
});

test("an operator keeps what the next one can use", () => {
  const one: AttributeCondition = { attribute: "a", op: "in", values: ["x"], ignoreCase: true };
  assert.deepEqual(withOperator(one, "startsWith"), { ...one, op: "startsWith" });
  assert.deepEqual(withOperator(one, "gte"), { attribute: "a", op: "gte" });
  assert.deepEqual(withOperator(one, "inCidr"), { attribute: "a", op: "inCidr", values: ["x"] });
  assert.deepEqual(withOperator(one, "exists"), { attribute: "a", op: "exists", value: true });
  assert.deepEqual(withOperator({ attribute: "a", op: "in", values: [1] }, "contains"), {
    attribute: "a",
    op: "contains",
    values: [],
  });
  const number: AttributeCondition = { attribute: "a", op: "gt", value: 3, as: "number" };
  assert.deepEqual(withOperator(number, "lt"), { ...number, op: "lt" });
  assert.equal(inputOf("likes"), "unknown");
});

test("values of another type are the same values, or stay texts that are marked", () => {
  const kept = [
    "pro",
    "0x10",
    "",
    " 7",
    "1.",
    "9007199254740993",
    "0.1234567890123456789",
    "1e-999",
  ];
  assert.deepEqual(asType(kept, "number"), kept);
  assert.deepEqual(asType(["1", "-0.5", "1e2", "9007199254740991"], "number"), [
    ...[1, -0.5, 100, 9007199254740991],
  ]);
  assert.deepEqual(asType([1, true], "string"), ["1", "true"]);
  assert.deepEqual(asType(["true", "no"], "boolean"), [true, "no"]);
  assert.deepEqual(asType(asType(["pro", "5"], "number"), "string"), ["pro", "5"]);
  assert.deepEqual(asType(["1e+21", "5"], "number", [1e21]), [1e21, 5]);
  assert.equal(typeOfValues(["pro", 5], "string"), "number");
  assert.equal(typeOfValues(["pro"], "number"), "number");
  assert.equal(typeMistake([5, "pro"], "number"), "“pro” is not a number.");
  assert.match(
    typeMistake(["9007199254740993"], "number") ?? "",
    /not a number that can be kept exactly/,
  );
  assert.equal(typeMistake([true, "no"], "boolean"), "“no” is neither true nor false.");
  assert.equal(typeMistake([5], "number"), undefined);
});

test("a moment is a date, a time and a zone", () => {
  assert.deepEqual(partsOfMoment("2026-11-14T12:00:00+02:00"), {
    local: "2026-11-14T12:00:00",
    zone: "+02:00",
  });
  assert.equal(momentOf({ local: "2026-11-14T12:00", zone: "Z" }), "2026-11-14T12:00:00Z");
  assert.equal(partsOfMoment("yesterday"), undefined);
});
