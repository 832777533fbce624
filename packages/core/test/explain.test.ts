// The explanation of an evaluation: the same result, and every step with its values.
import assert from "node:assert/strict";
import { test } from "node:test";
import { decidedFlag, type PreparedFlag } from "../src/evaluate.ts";
import type { Decidable, Environment } from "../src/targeting/decision.ts";
import { compileDecision } from "../src/targeting/decision.ts";
import { explainDecision } from "../src/targeting/explain.ts";
import { compileSegment } from "../src/targeting/segment.ts";

const staff = compileSegment({
  include: new Set(["ann"]),
  exclude: new Set(),
  when: null,
});
const environmentOf = (flags: Readonly<Record<string, PreparedFlag>> = {}): Environment => ({
  segment: (key) => (key === "staff" ? staff : undefined),
  flag: (key) => flags[key],
});

const flag: Decidable = {
  key: "checkout",
  enabled: true,
  variants: { on: true, off: false },
  off: "off",
  otherwise: "off",
  targeting: {
    requires: [{ flag: "payments", variant: "on" }],
    rules: [
      { id: "staff", when: { segment: ["staff", "gone"] }, serve: "on" },
      {
        id: "beta",
        when: {
          all: [
            { attribute: "plan", op: "in", values: ["pro"] },
            { not: { attribute: "/address/country", op: "in", values: ["RU"] } },
          ],
        },
        serve: [{ variant: "on", share: 100 }],
      },
    ],
  },
};
const payments = decidedFlag(
  compileDecision({ ...flag, key: "payments", otherwise: "on", targeting: {} }, environmentOf()),
);

test("every step is shown, with the values in the context", () => {
  const context = { targetingKey: "bob", plan: "pro", address: { country: "DE" } };
  const explained = explainDecision(flag, environmentOf({ payments }), context);
  assert.deepEqual(explained.decision, {
    value: true,
    variant: "on",
    reason: "SPLIT",
    rule: "beta",
  });
  assert.deepEqual(explained.requires, [
    {
      flag: "payments",
      variant: "on",
      found: { value: true, variant: "on", reason: "STATIC" },
      met: true,
    },
  ]);
  assert.deepEqual(explained.rules[0], {
    id: "staff",
    when: {
      segment: [
        { key: "staff", result: false },
        { key: "gone", result: "unknown" },
      ],
      result: "unknown",
    },
    serve: "on",
    decided: false,
  });
  assert.deepEqual(explained.rules[1]?.when, {
    all: [
      { attribute: "plan", op: "in", values: ["pro"], found: "pro", result: true },
      {
        not: {
          attribute: "/address/country",
          op: "in",
          values: ["RU"],
          found: "DE",
          result: false,
        },
        result: true,
      },
    ],
    result: true,
  });
  const { bucket } = explained;
  assert.deepEqual([bucket.by, bucket.seed, bucket.value], ["targetingKey", "checkout", "bob"]);
  assert.ok((bucket.percentage ?? 0) > 0 && (bucket.percentage ?? 101) <= 100);
});

test("a rule for everyone is true without any attribute", () => {
  const rules = [{ id: "everyone", when: { all: [] }, serve: "on" }];
  const explained = explainDecision({ ...flag, targeting: { rules } }, environmentOf(), {});
  assert.deepEqual(explained.rules, [
    { id: "everyone", when: { all: [], result: true }, serve: "on", decided: true },
  ]);
});

test("missing values are reported", () => {
  const explained = explainDecision(flag, environmentOf(), { plan: "pro" });
  assert.deepEqual(explained.decision, {
    value: false,
    variant: "off",
    reason: "PREREQUISITE_FAILED",
  });
  assert.deepEqual(explained.requires[0]?.found, null);
  assert.equal(explained.rules[1]?.when.result, "unknown");
  assert.deepEqual(explained.bucket, {
    by: "targetingKey",
    seed: "checkout",
    value: null,
    hash: null,
    percentage: null,
  });
});
