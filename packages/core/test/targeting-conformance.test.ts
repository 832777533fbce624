// The published cases of targeting: core agrees with each.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import type { TargetingGroup } from "../../../conformance/cases/targeting.ts";
import type { EvaluationContext } from "../src/context.ts";
import { evaluate, type PreparedFlag } from "../src/evaluate.ts";
import { newFlag } from "../src/flags/change.ts";
import { type CreateFlag, type Flag, prepare } from "../src/flags/registry.ts";
import { compileSegment, type Segment, stateOf } from "../src/targeting/segment.ts";

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
        (segments as unknown as readonly Segment[]).map((each) => [
          each.key,
          compileSegment(stateOf(each)),
        ]),
      );
      const decisions = new Map<string, PreparedFlag>();
      for (const flag of flags) {
        const { enabled: _, ...request } = flag;
        const made = newFlag(request as unknown as CreateFlag);
        assert.ok(made.ok, `it may be saved: ${JSON.stringify(made)}`);
        const environment = {
          segment: (key: string) => tests.get(key),
          flag: (key: string) => decisions.get(key),
        };
        decisions.set(flag.key as string, prepare(flag as unknown as Flag, 2, environment));
      }
      for (const { flag, context, expected } of cases) {
        const prepared = decisions.get(flag);
        assert.ok(prepared);
        const decided = evaluate(prepared, context as EvaluationContext);
        const { errorDetails: _, ...found } = { ...decided } as Record<string, unknown>;
        assert.deepEqual(found, expected, `${flag} for ${JSON.stringify(context)}`);
      }
    });
  }
});
