// A flagd engine on our definition gives what core gives: for the published cases, and for random flags and contexts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import type { TargetingGroup } from "../../../../conformance/cases/targeting.ts";
import type { JsonObject, World } from "../../../../conformance/reference/conditions.ts";
import { referenceAnswer } from "../../../../conformance/reference/evaluate.ts";
import { compileFlagd, type FlagdContent } from "../../src/flagd/index.ts";
import { flagdEngine, promises } from "./flagd-engine.ts";
import { randomWorld } from "./random-world.ts";

/** How many percent of the conditions are of a kind that flagd does not know. */
const rare = 4;

interface Case {
  readonly flag: string;
  readonly context: JsonObject;
  readonly expected: JsonObject;
}

interface Outcome {
  readonly classes: Readonly<Record<string, number>>;
  readonly compared: number;
}

const compare = (world: World, cases: readonly Case[], interpreted: boolean): Outcome => {
  const content = {
    flags: Object.values(world.flags),
    segments: Object.values(world.segments),
  } as unknown as FlagdContent;
  const { flags, text } = compileFlagd(content, "production");
  const engine = flagdEngine(text, interpreted);
  const byKey = new Map(flags.map((flag) => [flag.key, flag]));
  assert.deepEqual(
    engine.keys.toSorted(),
    flags.flatMap((flag) => (flag.class === "left-out" ? [] : [flag.key])).toSorted(),
  );
  const isPromised = promises(world);
  let compared = 0;
  for (const { flag, context, expected } of cases) {
    const told = byKey.get(flag);
    assert.ok(told);
    if (!isPromised(told, context)) continue;
    const found = engine.ask(flag, context);
    const place = `${JSON.stringify(world.flags[flag])} for ${JSON.stringify(context)}`;
    if ("errorCode" in expected) assert.ok(found.isError, place);
    else {
      const { value, variant } = expected;
      assert.deepEqual(found, { value, variant, isError: false }, place);
    }
    compared += 1;
  }
  const classes: Record<string, number> = { exact: 0, ascii: 0, "left-out": 0 };
  for (const { class: found } of flags) classes[found] = (classes[found] ?? 0) + 1;
  return { classes, compared };
};

const sum = (outcomes: readonly Outcome[]): Outcome =>
  outcomes.reduce((all, { classes, compared }) => ({
    compared: all.compared + compared,
    classes: Object.fromEntries(
      Object.entries(classes).map(([name, count]) => [name, count + (all.classes[name] ?? 0)]),
    ),
  }));

const asWorld = (flags: readonly JsonObject[], segments: readonly JsonObject[]): World => ({
  flags: Object.fromEntries(flags.map((flag) => [flag.key, flag])),
  segments: Object.fromEntries(segments.map((segment) => [segment.key, segment])),
});

const { groups } = JSON.parse(
  readFileSync(new URL("../../../../conformance/targeting.json", import.meta.url), "utf8"),
) as { readonly groups: readonly TargetingGroup[] };

/** Worlds of eight flags, each with sixteen contexts. */
export const testFlagdConformance = ({ worlds }: { readonly worlds: number }): void => {
  suite("flagd's engine gives the same", () => {
    for (const interpreted of [false, true]) {
      const mode = interpreted ? "interpreted" : "compiled";

      test(`for conformance/targeting.json, ${mode}`, (t) => {
        const { classes, compared } = sum(
          groups.map(({ flags, segments, cases }) =>
            compare(asWorld(flags, segments), cases as readonly Case[], interpreted),
          ),
        );
        t.diagnostic(`${compared} cases, flags ${JSON.stringify(classes)}`);
        assert.ok(compared > 2_000, `${compared} cases`);
      });

      test(`for random flags and contexts, ${mode}`, (t) => {
        const outcomes = Array.from({ length: worlds }, (_, seed) => {
          const { world, contexts } = randomWorld(seed + 1, { rare });
          const cases = Object.entries(world.flags).flatMap(([flag, definition]) =>
            contexts.map((context) => ({
              flag,
              context,
              expected: referenceAnswer(definition, context, world) as unknown as JsonObject,
            })),
          );
          return compare(world, cases, interpreted);
        });
        const { classes, compared } = sum(outcomes);
        const flags = worlds * 8;
        const said = flags - (classes["left-out"] ?? 0);
        t.diagnostic(`${compared} compared, ${flags} flags ${JSON.stringify(classes)}`);
        assert.ok(said >= flags * 0.6, `${said} of ${flags} flags are in the definition`);
      });
    }
  });
};
