// Flags that the import once converted differently from the product's own SDK. The expected values come from that SDK.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { convert } from "../src/flags-file/importers/convert.ts";
import { readProduct } from "../src/flags-file/importers/read-product.ts";
import { evaluator } from "./support/import-fixtures.ts";
import { cases } from "./support/sdks/cases.ts";

suite("users get the same values as from the product's SDK", () => {
  for (const { product, environment, what, document, flag, note, people } of cases) {
    test(`${product}: ${what}`, () => {
      const { found, segments = [] } = readProduct(product, { value: document, environment });
      const converted = convert(found, segments, {});
      const notes = converted.notes.map((each) => each.note);
      assert.deepEqual(notes, note === undefined ? [] : [note]);
      assert.deepEqual(converted.whole, note === undefined ? [flag] : []);
      const evaluate = evaluator(converted);
      for (const [, ours, value] of people) {
        assert.deepEqual(evaluate(flag, ours).value, value, JSON.stringify(ours));
      }
    });
  }
});

test("a flag that requires a flag with exact notes has a note of its own", () => {
  const flagOf = (key: string, place: object) => ({
    key,
    variations: [{ value: true }, { value: false }],
    environments: {
      production: { on: true, offVariation: 1, fallthrough: { variation: 0 }, ...place },
    },
  });
  const clause = { attribute: "email", op: "endsWith", values: ["@acme.com"] };
  const value = {
    items: [
      flagOf("parent", { rules: [{ clauses: [clause], variation: 1 }] }),
      flagOf("child", { prerequisites: [{ key: "parent", variation: 0 }] }),
    ],
  };
  const { found } = readProduct("launchdarkly", { value, environment: undefined });
  const { notes } = convert(found, [], {});
  assert.deepEqual(notes, [
    { key: "parent", note: "exact only if email is not a list" },
    { key: "child", note: "requires parent, whose notes apply here too" },
  ]);
});

suite("a flag has one type in all environments of a file", () => {
  const launchDarkly = (fallthroughs: Record<string, object>) => ({
    items: [
      {
        key: "flag",
        variations: [{ value: true }, { value: false }],
        environments: Object.fromEntries(
          Object.entries(fallthroughs).map(([name, fallthrough]) => [
            name,
            { on: true, offVariation: 1, fallthrough },
          ]),
        ),
      },
    ],
  });
  const weights = [30_000, 70_000].map((weight, variation) => ({ variation, weight }));
  const quarter = { rollout: { variations: weights } };
  const typeIn = (value: unknown, environment: string) => {
    const { found } = readProduct("launchdarkly", { value, environment });
    const [flag] = convert(found, [], {}).flags;
    return [flag?.type, flag?.enabled, flag && "percentage" in flag ? flag.percentage : undefined];
  };

  test("a percentage in one of them", () => {
    const value = launchDarkly({
      production: quarter,
      staging: { variation: 0 },
      test: { variation: 1 },
    });
    assert.deepEqual(typeIn(value, "production"), ["rollout", true, 30]);
    assert.deepEqual(typeIn(value, "staging"), ["rollout", true, 100]);
    assert.deepEqual(typeIn(value, "test"), ["rollout", true, 0]);
  });

  test("a percentage in none of them", () => {
    const value = launchDarkly({ production: { variation: 0 }, staging: { variation: 0 } });
    assert.deepEqual(typeIn(value, "production"), ["boolean", true, undefined]);
  });
});
