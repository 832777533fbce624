// Flags with rules, segments and requirements: core and the reference give the same answers for random ones.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, World } from "../../../../conformance/reference/conditions.ts";
import { referenceAnswer } from "../../../../conformance/reference/evaluate.ts";
import { type Evaluation, evaluate, type PreparedFlag } from "../../src/evaluate.ts";
import { type Flag, prepare } from "../../src/flags/registry.ts";
import type { Environment } from "../../src/targeting/decision.ts";
import { compileSegment, type Segment, stateOf } from "../../src/targeting/segment.ts";
import { randomWorld } from "./random-world.ts";

type Ask = (key: string, context: JsonObject) => Evaluation | undefined;

const askIn = (world: World): Ask => {
  const segments = new Map(
    Object.entries(world.segments).map(([key, segment]) => [
      key,
      compileSegment(stateOf(segment as unknown as Segment)),
    ]),
  );
  const flags = new Map<string, PreparedFlag>();
  const environment: Environment = {
    segment: (key) => segments.get(key),
    flag: (key) => flags.get(key),
  };
  for (const [key, flag] of Object.entries(world.flags)) {
    flags.set(key, prepare(flag as unknown as Flag, 2, environment));
  }
  return (key, context) => {
    const flag = flags.get(key);
    return flag && evaluate(flag, context);
  };
};

/** Worlds of eight flags and four segments, each with sixteen contexts. */
export const testTargetingReference = ({ worlds }: { readonly worlds: number }): void => {
  test("random flags, segments and contexts", (t) => {
    let compared = 0;
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= worlds; seed += 1) {
      const { world, contexts } = randomWorld(seed);
      const ask = askIn(world);
      for (const [key, flag] of Object.entries(world.flags)) {
        for (const context of contexts) {
          const expected = referenceAnswer(flag, context, world);
          const { errorDetails: _, ...found } = { ...ask(key, context) } as JsonObject;
          assert.deepEqual(
            found,
            expected,
            `seed ${seed}, flag ${JSON.stringify(flag)}, context ${JSON.stringify(context)}`,
          );
          const kind = "errorCode" in expected ? expected.errorCode : expected.reason;
          seen.set(kind, (seen.get(kind) ?? 0) + 1);
          compared += 1;
        }
      }
    }
    t.diagnostic(`${compared} compared: ${JSON.stringify(Object.fromEntries(seen))}`);
    for (const kind of [
      "TARGETING_MATCH",
      "SPLIT",
      "DEFAULT",
      "STATIC",
      "PREREQUISITE_FAILED",
      "TARGETING_KEY_MISSING",
    ]) {
      assert.ok((seen.get(kind) ?? 0) > compared / 200, `${kind}: ${seen.get(kind)}`);
    }
  });
};
