// What the rule editor says and does without a browser: sentences, hints, differences, JSON with its mistakes, names, trees.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Flag } from "@halyard/core/flags/registry";
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import type { AttributeCondition } from "@halyard/core/targeting/conditions/operators";
import { operatorNames } from "@halyard/core/targeting/conditions/operators";
import type { Rule } from "@halyard/core/targeting/targeting";
import { summaryOf } from "../src/flags/edit/flag-change.ts";
import { diffOf } from "../src/flags/edit/flag-lines.ts";
import { collectNames } from "../src/targeting/collect-names.ts";
import {
  asKind,
  kindOf,
  levelsOf,
  withAnother,
  wrapped,
} from "../src/targeting/conditions/condition-tree.ts";
import { momentOf, partsOfMoment } from "../src/targeting/conditions/moment-text.ts";
import { asType, inputOf, withOperator } from "../src/targeting/conditions/operator-inputs.ts";
import { operatorGroups } from "../src/targeting/operator-labels.ts";
import { moved } from "../src/targeting/row-keys.ts";
import { parseText, textOf } from "../src/targeting/rules/json-text.ts";
import { splitHints } from "../src/targeting/rules/split-hints.ts";
import {
  copyOf,
  isFilledIn,
  isUnderstood,
  mistakesIn,
  nameOfPlace,
  newRule,
  readTargeting,
  withRules,
} from "../src/targeting/rules/targeting-draft.ts";
import { ruleSentence } from "../src/targeting/sentence.ts";

/** Percentages are written with a space that does not break. */
const plain = (text: string | undefined) => text?.replaceAll("\u00a0", " ");

const plan: Condition = { attribute: "plan", op: "in", values: ["pro", "team"] };
const sentences: readonly (readonly [says: string, when: unknown, serve?: Rule["serve"]])[] = [
  [
    "If plan is pro or team and not in segment embargoed, serve on to 25 %; the others go on.",
    { all: [plan, { not: { segment: ["embargoed"] } }] },
    [{ variant: "on", share: 25 }],
  ],
  [
    "If email ends with @acme.com (in any case), serve on to 25 % and off to 75 %.",
    { attribute: "email", op: "endsWith", values: ["@acme.com"], ignoreCase: true },
    [
      { variant: "on", share: 20 },
      { variant: "off", share: 75 },
      { variant: "on", share: 5 },
    ],
  ],
  ["If n is 7 or 8, serve on.", { attribute: "n", op: "in", values: [7, 8] }],
  ['If n is "7" or "true", serve on.', { attribute: "n", op: "in", values: ["7", "true"] }],
  [
    "If app is at least version 2.1.0, serve on.",
    { attribute: "app", op: "semverGte", value: "2.1.0" },
  ],
  ["If country is not RU, serve on.", { attribute: "country", op: "notIn", values: ["RU"] }],
  [
    "If country is none of RU and BY, serve on.",
    { attribute: "country", op: "notIn", values: ["RU", "BY"] },
  ],
  ["If email is not known, serve on.", { attribute: "email", op: "exists", value: false }],
  [
    "If age is at least 18 (as a number), serve on.",
    { attribute: "age", op: "gte", value: 18, as: "number" },
  ],
  [
    "If (plan is pro or team) or age is less than 3, serve on.",
    { any: [plan, { attribute: "age", op: "lt", value: 3 }] },
  ],
  [
    "If age is less than 3 and (in segment a or (in segment b or c)), serve on.",
    {
      all: [
        { attribute: "age", op: "lt", value: 3 },
        { any: [{ segment: ["a"] }, { segment: ["b", "c"] }] },
      ],
    },
  ],
  ["If not (plan is pro or team), serve on.", { not: { all: [plan] } }],
  [
    "If id is 1, 2, 3, 4 or 3 more, serve on.",
    { attribute: "id", op: "in", values: [1, 2, 3, 4, 5, 6, 7] },
  ],
  ["If plan likes x, serve on.", { attribute: "plan", op: "likes", value: "x" }],
  ["If something that this page does not know, serve on.", { moon: "full" }],
  ["If … is …, serve on.", { attribute: "", op: "in", values: [] }],
];
for (const [says, when, serve = "on"] of sentences) {
  test(`in a sentence: ${says}`, () => assert.equal(plain(ruleSentence({ when, serve })), says));
}

test("a disabled rule says so, and every operator has its words", () => {
  assert.match(ruleSentence({ when: plan, serve: "on", disabled: true }), /^Disabled: If plan/);
  const labelled = operatorGroups.flatMap(({ labels }) => Object.keys(labels));
  assert.deepEqual([...labelled].sort(), [...operatorNames].sort());
});

test("a split says whom it cannot reach after an earlier one", () => {
  const split = (id: string, share: number, disabled = false) => ({
    id,
    serve: [{ variant: "on", share }],
    ...(disabled && { disabled }),
  });
  const says = (...given: Parameters<typeof splitHints>) => splitHints(...given).map(plain);
  assert.deepEqual(says([split("a", 25), split("b", 25)]), [
    undefined,
    "This reaches nobody whom rule a matches but does not reach: a person has one bucket for the whole flag, and rule a has had the first 25 %. To reach another 25 %, make it 50 %.",
    undefined,
  ]);
  assert.match(says([split("a", 25), split("b", 40)])[1] ?? "", /reaches only 15 % of everyone/);
  assert.doesNotMatch(says([split("a", 60), split("b", 50)])[1] ?? "", /To reach another/);
  assert.match(says([split("a", 25)], 5)[1] ?? "", /make it 30 %/);
  const nothing = [
    [[split("a", 25, true), split("b", 25)]],
    [[split("a", 100), split("b", 25)]],
    [[split("a", 25), split("b", 100)]],
    [[{ id: "a", serve: "on" }, split("b", 25)]],
    [[split("a", 25)], 0],
    [[split("a", 25)], 100],
  ] as const;
  for (const given of nothing) {
    assert.ok(
      splitHints(...(given as unknown as Parameters<typeof splitHints>)).every(
        (hint) => hint === undefined,
      ),
    );
  }
});

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

test("the difference of rules is told by id: added, changed, moved, removed", () => {
  const before = flag([rule("a"), rule("b"), rule("c"), rule("d")], {
    requires: [{ flag: "x", variant: "on" }],
  });
  const after = flag(
    [rule("d"), rule("a"), { ...rule("c", ["z"]), description: "why" }, rule("e")],
    {
      requires: [
        { flag: "x", variant: "off" },
        { flag: "y", variant: "on" },
      ],
    },
  );
  assert.deepEqual(diffOf(before, after), [
    { field: "requires x", before: "on", after: "off" },
    { field: "requires y", before: undefined, after: "on" },
    { field: "rule d, place", before: "4 of 4", after: "1 of 4" },
    { field: "rule c", before: "If plan is c, serve on.", after: "If plan is z, serve on." },
    { field: "rule c, description", before: undefined, after: "why" },
    { field: "rule e", before: undefined, after: "If plan is e, serve on." },
    { field: "rule b", before: "If plan is b, serve on.", after: undefined },
  ]);
  assert.deepEqual(summaryOf(before, after), [
    "Its targeting changes: its rules decide who gets it.",
  ]);
  assert.deepEqual(summaryOf(before, flag(undefined)), [
    "Its targeting changes: without rules it is on for everyone.",
  ]);
  assert.deepEqual(summaryOf(before, { ...before, owner: "shop", tags: ["a"] }), [
    "The tags change; users see no difference.",
    "The owner changes; users see no difference.",
  ]);
  const newer = flag([{ ...rule("a"), note: 1 } as Rule]);
  assert.match(diffOf(flag([rule("a")]), newer)[0]?.after ?? "", /"note":1/);
});

const texts: readonly (readonly [text: string, problem: string])[] = [
  ["no JSON", "This is not valid JSON: see line 1, character 1."],
  ['{\n  "rules": [}\n}', "This is not valid JSON: see line 2, character 13."],
  ['{"a": "x\ty"}', "This is not valid JSON: see line 1, character 7."],
  ['{"a": 1 "b": 2}', "This is not valid JSON: see line 1, character 9."],
  ["{} {}", "This is not valid JSON: see line 1, character 4."],
  [
    '{"a": [1, 2',
    "This is not valid JSON: something is missing at the end (line 1, character 12).",
  ],
  ["[]", 'This must be a JSON object, such as {"rules": […]}.'],
];
test("JSON is read, and its first mistake has a place", () => {
  for (const [text, problem] of texts) assert.deepEqual(parseText(text), { ok: false, problem });
  const members = { rules: [rule("a")], later: { x: null } };
  assert.deepEqual(parseText(textOf(members)), { ok: true, members });
  assert.deepEqual(parseText(" \n"), { ok: true, members: {} });
  assert.equal(textOf({}), "");
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
  const members = readTargeting(flag([rule("rule-1")], { owner: "shop" })).members;
  assert.equal(newRule(flag(undefined), [rule("rule-1")]).id, "rule-2");
  assert.equal(copyOf(rule("a"), [rule("a"), rule("a-copy")]).id, "a-copy-2");
  assert.deepEqual(withRules("boolean", members, []), { owner: "shop" });
  assert.deepEqual(moved(["a", "b", "c"], 0, 2), ["b", "c", "a"]);
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
    ],
  });
  assert.deepEqual(names.attributes, ["targetingKey", "/company/id", "country", "plan"]);
  assert.deepEqual(names.valuesOf("plan"), ["pro", "team"]);
  assert.deepEqual(names.valuesOf("country"), ["DE"]);
  assert.deepEqual(names.segments, ["b", "z"]);
});

test("a condition becomes a group and stops being one; what is not known stays", () => {
  assert.deepEqual(withAnother(plan, { segment: ["a"] }), { all: [plan, { segment: ["a"] }] });
  assert.deepEqual(withAnother({ any: [plan] }, plan), { any: [plan, plan] });
  assert.equal(levelsOf(wrapped(wrapped(plan, "not"), "any")), 3);
  assert.deepEqual(asKind({ all: [plan], note: 1 } as Condition, "any"), { any: [plan], note: 1 });
  assert.deepEqual([plan, { all: [] }, { segment: "x" }, { all: [], any: [] }, 7].map(kindOf), [
    "attribute",
    "all",
    "unknown",
    "unknown",
    "unknown",
  ]);
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
  assert.deepEqual(asType(["1", "x", "1e2"], "number"), [1, 100]);
  assert.deepEqual(asType([1, true], "string"), ["1", "true"]);
  assert.deepEqual(asType(["true", "no"], "boolean"), [true]);
});

test("a moment is a date, a time and a zone", () => {
  assert.deepEqual(partsOfMoment("2026-11-14T12:00:00+02:00"), {
    local: "2026-11-14T12:00:00",
    zone: "+02:00",
  });
  assert.equal(momentOf({ local: "2026-11-14T12:00", zone: "Z" }), "2026-11-14T12:00:00Z");
  assert.equal(partsOfMoment("yesterday"), undefined);
});
