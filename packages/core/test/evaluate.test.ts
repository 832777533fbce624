// Guarantees of evaluation for every flag and context.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { hashLimit } from "@halyard/core/bucket";
import type { EvaluationContext } from "@halyard/core/context";
import { type Evaluation, evaluate as evaluatePrepared } from "@halyard/core/evaluate";
import { type Flag, prepare } from "@halyard/core/flags/registry";
import { fromThousandths, isPercentage, thousandthsOf } from "@halyard/core/percentage";
import {
  anything,
  boolean,
  assert as check,
  constant,
  integer,
  oneof,
  property,
  record,
  string,
} from "fast-check";
import { referenceEvaluate } from "./support/reference.ts";

const evaluate = (flag: Flag, context: EvaluationContext = {}): Evaluation =>
  evaluatePrepared(prepare(flag), context);

const key = string({ unit: "binary", minLength: 1, maxLength: 40 });
const flagKey = string({ unit: "binary-ascii", minLength: 1, maxLength: 20 });
const percentage = integer({ min: 0, max: 100_000 }).map(fromThousandths);
const description = constant(null);
const flag = oneof(
  record({ key: flagKey, type: constant("boolean" as const), enabled: boolean(), description }),
  record({
    key: flagKey,
    type: constant("rollout" as const),
    enabled: boolean(),
    percentage,
    description,
  }),
);
const context = oneof(
  record({ targetingKey: key }),
  record({ targetingKey: anything() }),
  record({}),
);

const rollout = (share: number, enabled = true): Flag => ({
  key: "new-checkout",
  type: "rollout",
  enabled,
  percentage: share,
  description: null,
});
const isOn = (evaluation: Evaluation): boolean =>
  "value" in evaluation && evaluation.value === true;

suite("for every flag and context", () => {
  test("the result equals the reference's", () => {
    check(
      property(flag, context, (generated, given) => {
        assert.partialDeepStrictEqual(
          evaluate(generated, given as { targetingKey?: string }),
          referenceEvaluate(generated, given),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  test("a prepared flag returns the same object every time", () => {
    check(
      property(flag, key, anything(), (generated, targetingKey, other) => {
        const prepared = prepare(generated);
        const first = evaluatePrepared(prepared, { targetingKey });
        evaluatePrepared(prepared, { targetingKey: other as string });
        assert.equal(first, evaluate(generated, { targetingKey }));
        assert.equal(evaluatePrepared(prepared, { targetingKey }), first);
        assert.ok(Object.isFrozen(first));
      }),
    );
  });

  test("raising the percentage excludes no key", () => {
    check(
      property(flagKey, key, percentage, percentage, (name, targetingKey, one, other) => {
        const at = (share: number) =>
          isOn(evaluate({ ...rollout(share), key: name }, { targetingKey }));
        assert.ok(!at(Math.min(one, other)) || at(Math.max(one, other)));
      }),
      { numRuns: 1_000 },
    );
  });

  test("turned off, no key is included; turned on again, the same keys are", () => {
    check(
      property(percentage, key, (share, targetingKey) => {
        const before = evaluate(rollout(share), { targetingKey });
        assert.deepEqual(evaluate(rollout(share, false), { targetingKey }), {
          value: false,
          variant: "off",
          reason: "DISABLED",
        });
        assert.deepEqual(evaluate(rollout(share), { targetingKey }), before);
      }),
    );
  });

  test("attributes other than the targeting key change nothing", () => {
    check(
      property(flag, key, anything(), (generated, targetingKey, plan) => {
        assert.equal(
          evaluate(generated, { targetingKey, plan }),
          evaluate(generated, { targetingKey }),
        );
      }),
    );
  });
});

test("without a context, a flag that needs none has a result, and another one reports what is missing", () => {
  assert.equal(isOn(evaluate(rollout(100))), true);
  const refused = evaluate(rollout(50));
  assert.ok("errorCode" in refused);
  assert.match(refused.errorDetails, /targetingKey/);
});

test("each of the 100,001 percentages survives the conversion to thousandths", () => {
  for (let thousandths = 0; thousandths <= 100_000; thousandths += 1) {
    const share = fromThousandths(thousandths);
    assert.ok(isPercentage(share));
    assert.equal(thousandthsOf(share), thousandths);
    if (thousandths === 0 || thousandths === 100_000) continue;
    assert.equal(prepare(rollout(share)).limit, hashLimit(thousandths));
  }
  for (const wrong of [-0.001, 100.001, 0.0005, 33.3333, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.ok(!isPercentage(wrong), String(wrong));
  }
});
