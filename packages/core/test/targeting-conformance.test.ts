// The published cases of targeting: core agrees with each.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import type { TargetingGroup } from "../../../conformance/cases/targeting.ts";
import type { EvaluationContext } from "../src/context.ts";
import { checkTargeting } from "../src/targeting/check-targeting.ts";
import { compileDecision, type Decide } from "../src/targeting/decision.ts";
import { collectMistakes, type Members } from "../src/targeting/mistakes.ts";
import { compileSegment, type Segment } from "../src/targeting/segment.ts";
import { otherwiseOf } from "./support/decidable.ts";

const { groups } = JSON.parse(
  readFileSync(new URL("../../../conformance/targeting.json", import.meta.url), "utf8"),
) as { readonly groups: readonly TargetingGroup[] };

suite("conformance/targeting.json", () => {
  test("has enough cases", () => {
    const count = groups.reduce((sum, { cases }) => sum + cases.length, 0);
    assert.ok(count >= 3_000, `${count} cases`);
  });

  for (const { name, flags, segments, cases } of groups) {
    test(name, () => {
      const tests = new Map(
        (segments as unknown as readonly Segment[]).map((each) => [each.key, compileSegment(each)]),
      );
      const decisions = new Map<string, Decide>();
      for (const flag of flags) {
        const mistakes = collectMistakes();
        const { variants = { on: true, off: false } } = flag;
        const isVariant = (each: unknown) => Object.hasOwn(variants as object, each as string);
        checkTargeting(flag as Members, { mistakes, key: flag.key as string, isVariant });
        assert.deepEqual(mistakes.found, [], "it may be saved");
        const environment = {
          segment: (key: string) => tests.get(key),
          flag: (key: string) => decisions.get(key),
        };
        decisions.set(flag.key as string, compileDecision(otherwiseOf(flag), environment));
      }
      for (const { flag, context, expected } of cases) {
        const decided = decisions.get(flag)?.(context as EvaluationContext);
        const { errorDetails: _, ...found } = { ...decided } as Record<string, unknown>;
        assert.deepEqual(found, expected, `${flag} for ${JSON.stringify(context)}`);
      }
    });
  }
});
