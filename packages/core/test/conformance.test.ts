// The published cases of bucketing and evaluation: core agrees with each, and they equal the output of the script.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { bucketHash, bucketOf, isInRollout } from "@halyard/core/bucket";
import { evaluate } from "@halyard/core/evaluate";
import { type Flag, prepare } from "@halyard/core/flags/registry";
import { conformanceFiles } from "../../../scripts/make-conformance.ts";

interface BucketingCase {
  readonly name: string;
  readonly flagKey: string;
  readonly targetingKey: string | { readonly repeat: string; readonly times: number };
  readonly hash: number;
  readonly inFrom: number;
  readonly in: Readonly<Record<string, boolean>>;
}

interface EvaluationCase {
  readonly name: string;
  readonly flag: Flag;
  readonly context: Readonly<Record<string, unknown>>;
  readonly expected: Readonly<Record<string, unknown>>;
}

const read = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const casesOf = <Case>(path: string): readonly Case[] =>
  (JSON.parse(read(path)) as { cases: readonly Case[] }).cases;

suite("conformance/bucketing.json", () => {
  const cases = casesOf<BucketingCase>("conformance/bucketing.json");
  test("has enough cases", () => assert.ok(cases.length >= 200, `${cases.length} cases`));

  for (const { name, flagKey, targetingKey, hash, inFrom, in: reached } of cases) {
    test(`${flagKey}: ${name}`, () => {
      const key =
        typeof targetingKey === "string"
          ? targetingKey
          : targetingKey.repeat.repeat(targetingKey.times);
      assert.equal(bucketHash(flagKey, key), hash);
      assert.equal(bucketOf(flagKey, key), inFrom);
      assert.ok(Object.keys(reached).length >= 7);
      for (const [thousandths, isIn] of Object.entries(reached)) {
        assert.equal(isInRollout(flagKey, key, Number(thousandths)), isIn, thousandths);
      }
    });
  }
});

suite("conformance/evaluation.json", () => {
  const cases = casesOf<EvaluationCase>("conformance/evaluation.json");
  test("has enough cases", () => assert.ok(cases.length >= 200, `${cases.length} cases`));

  test("contains every result many times", () => {
    const answers = Map.groupBy(cases, ({ expected }) => JSON.stringify(expected));
    assert.equal(answers.size, 6);
    for (const [answer, found] of answers) assert.ok(found.length > 10, answer);
  });

  for (const { name, flag, context, expected } of cases) {
    test(name, () => {
      const prepared = prepare(flag);
      const found = evaluate(prepared, context);
      // The message is not part of the conformance.
      assert.partialDeepStrictEqual(found, expected);
      assert.equal("errorCode" in found, "errorCode" in expected);
      assert.equal(evaluate(prepared, context), found);
    });
  }
});

test("the committed cases equal the output of npm run conformance", () => {
  const files = conformanceFiles();
  assert.equal(files.size, 3);
  for (const [path, text] of files) assert.ok(read(path) === text, `${path} is out of date`);
});
