// What the rule editor says: sentences, hints, differences, and JSON with its mistakes.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Flag } from "@halyard/core/flags/registry";
import type { Condition } from "@halyard/core/targeting/conditions/condition";
import { operatorNames } from "@halyard/core/targeting/conditions/operators";
import type { Rule } from "@halyard/core/targeting/targeting";
import { summaryOf } from "../src/flags/edit/flag-change.ts";
import { diffOf } from "../src/flags/edit/flag-lines.ts";
import { kindOf } from "../src/targeting/conditions/condition-tree.ts";
import { operatorGroups } from "../src/targeting/operator-labels.ts";
import { parseText, textOf } from "../src/targeting/rules/json-text.ts";
import { splitHints } from "../src/targeting/rules/split-hints.ts";
import { rulesOf } from "../src/targeting/rules/targeting-draft.ts";
import { ruleSentence } from "../src/targeting/sentence.ts";

const plan: Condition = { attribute: "plan", op: "in", values: ["pro", "team"] };
const sentences: readonly (readonly [says: string, when: unknown, serve?: Rule["serve"]])[] = [
  [
    "If plan is pro or team and not in segment embargoed, serve on to 25%; the others go on.",
    { all: [plan, { not: { segment: ["embargoed"] } }] },
    [{ variant: "on", share: 25 }],
  ],
  [
    "If email ends with @acme.com (in any case), serve on to 25% and off to 75%.",
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
  ["Everyone: serve on.", { all: [] }],
  ["Everyone: serve on to 25%; the others go on.", { all: [] }, [{ variant: "on", share: 25 }]],
  ["If not (everyone), serve on.", { not: { all: [] } }],
  ["If … is …, serve on.", { attribute: "", op: "in", values: [] }],
];
for (const [says, when, serve = "on"] of sentences) {
  test(`in a sentence: ${says}`, () => assert.equal(ruleSentence({ when, serve }), says));
}

test("a disabled rule says so, and every operator has its words", () => {
  assert.match(ruleSentence({ when: plan, serve: "on", disabled: true }), /^Disabled: If plan/);
  const labelled = operatorGroups.flatMap(({ labels }) => Object.keys(labels));
  assert.deepEqual([...labelled].sort(), [...operatorNames].sort());
});

test("what is typed as JSON or comes from a newer version breaks nothing", () => {
  const odd = [7, null, [1], [{ variant: 1 }], { x: 1 }];
  for (const value of odd) {
    assert.match(ruleSentence({ when: value, serve: value }), /^If .*, serve …/);
    assert.deepEqual(splitHints([{ serve: value }, { serve: value }]), [
      undefined,
      undefined,
      undefined,
    ]);
    assert.deepEqual(
      diffOf(flag(undefined), flag(undefined, { requires: value, owner: "o" })).slice(-1),
      [{ field: "owner", before: undefined, after: "o" }],
    );
    assert.equal(rulesOf({ rules: [{ id: value ?? 1 }] }), undefined);
    assert.equal(
      kindOf({ attribute: "a", op: "in", values: value ?? 1 }),
      Array.isArray(value) && value[0] === 1 ? "attribute" : "unknown",
    );
  }
});

test("a split says whom it cannot reach after an earlier one", () => {
  const split = (id: string, share: number, disabled = false) => ({
    id,
    serve: [{ variant: "on", share }],
    ...(disabled && { disabled }),
  });
  assert.deepEqual(splitHints([split("a", 25), split("b", 25)]), [
    undefined,
    "This reaches nobody whom rule a matches but does not reach: a person has one bucket for the whole flag, and rule a has had the first 25%. To reach another 25%, make it 50%.",
    undefined,
  ]);
  assert.match(
    splitHints([split("a", 25), split("b", 40)])[1] ?? "",
    /reaches only 15% of everyone/,
  );
  assert.doesNotMatch(splitHints([split("a", 60), split("b", 50)])[1] ?? "", /To reach another/);
  assert.match(splitHints([split("a", 25)], 5)[1] ?? "", /make it 30%/);
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
    "Its targeting changes: its prerequisites, then its rules, then its default rule decide who gets it.",
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
