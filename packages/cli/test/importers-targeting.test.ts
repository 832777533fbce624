// Files of other products with targeting: the flags equal those in fixtures/products/expected, and users get the same
// values as in the other product.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { EvaluationContext } from "@halyard/core/context";
import { newFlag } from "@halyard/core/flags/change";
import { checkSegment } from "@halyard/core/targeting/check-segment";
import { collectErrors } from "@halyard/core/targeting/mistakes";
import type { Converted } from "../src/flags-file/importers/convert.ts";
import { convertFile, evaluator, files, readJson } from "./support/import-fixtures.ts";

suite("every flag of a file", () => {
  for (const name of Object.keys(files)) {
    test(name, async () => {
      const { flags, segments, counts, notes, leftOut, remarks, whole } = await convertFile(name);
      const actual = { counts, flags, segments, notes, leftOut, remarks };
      assert.deepEqual(JSON.parse(JSON.stringify(actual)), readJson("expected", `${name}.json`));
      assert.equal(counts.whole, whole.length);
      // The results are valid.
      for (const { enabled: _, ...flag } of flags) assert.ok(newFlag(flag).ok, flag.key);
      for (const segment of segments) {
        const errors = collectErrors();
        checkSegment({ ...segment }, errors, true);
        assert.deepEqual(errors.found, []);
      }
    });
  }
});

/** Flags without some rule, or with an attribute that must be added to contexts. More users may get off. */
const narrower = ({ notes }: Converted): ReadonlySet<string> =>
  new Set(
    notes.filter(({ note }) => /is left out|send automatically/.test(note)).map(({ key }) => key),
  );

suite("users get the same values as from the product's own evaluator", () => {
  const people = readJson("people.json") as EvaluationContext[];
  for (const name of ["launchdarkly", "unleash", "flagsmith", "flagd", "growthbook"]) {
    test(name, async () => {
      const converted = await convertFile(name);
      const evaluateFlag = evaluator(converted);
      const mayBeOff = narrower(converted);
      const { answers } = readJson("answers", `${name}.json`) as {
        answers: Record<string, unknown[]>;
      };
      assert.ok(Object.keys(answers).length >= 20);
      for (const [key, theirs] of Object.entries(answers)) {
        for (const [index, context] of people.entries()) {
          const { value } = evaluateFlag(key, context);
          if (mayBeOff.has(key) && value === false) continue;
          assert.deepEqual(value, theirs[index], `${key} for ${JSON.stringify(context)}`);
        }
      }
    });
  }
});

type People = readonly (readonly [flag: string, context: EvaluationContext, value: unknown])[];

const check = async (name: string, people: People) => {
  const evaluateFlag = evaluator(await convertFile(name));
  for (const [flag, context, value] of people) {
    const found = evaluateFlag(flag, context).value;
    assert.deepEqual(found, value, `${flag} for ${JSON.stringify(context)}`);
  }
};

test("GO Feature Flag: included and excluded users", () =>
  check("go-feature-flag", [
    ["for-staff", { email: "ANNA@example.COM" }, true],
    ["for-staff", {}, false],
    ["not-staff", { email: "x@other.org" }, true],
    ["not-staff", { email: "x@example.com" }, false],
    ["not-staff", {}, true],
    ["not-free", { plan: "pro" }, true],
    ["not-free", { plan: "FREE" }, false],
    ["not-free", {}, false],
    ["some-people", { targetingKey: "anna" }, true],
    ["some-people", { targetingKey: "Anna" }, false],
    ["one-person", { targetingKey: "Anna" }, true],
    ["left-to-right", { plan: "pro" }, false],
    ["left-to-right", { plan: "pro", country: "ch" }, true],
    ["and-or", { plan: "team", country: "Chile" }, true],
    ["known-users", {}, true],
    ["known-users", { anonymous: true }, false],
    ["has-no-plan", {}, true],
    ["has-no-plan", { plan: "pro" }, false],
    ["adults", { age: 18 }, true],
    ["adults", {}, false],
    ["app-from-2", { app: "2.10.0" }, true],
    ["app-from-2", { app: "2.1.0-rc.1" }, false],
    ["nested-attribute", { address: { city: "Bern" } }, true],
    ["off-for-some", { targetingKey: "mallory" }, false],
    ["off-for-some", {}, true],
    ["disabled-rule", { plan: "free" }, false],
    ["colour", { country: "CH" }, "#0f0"],
    ["page-size", { plan: "team" }, 50],
    ["page-size", { plan: "Team" }, 10],
    ["asleep", {}, false],
  ]));

test("Flipt: included and excluded users", () =>
  check("flipt", [
    ["for-staff", { email: "anna@example.com" }, true],
    ["for-staff", {}, false],
    ["for-not-free", { plan: "pro" }, true],
    ["for-not-free", { plan: "free" }, false],
    ["for-not-free", { plan: "" }, false],
    ["for-not-free", {}, false],
    ["for-not-embargoed", { country: "CH" }, true],
    ["for-not-embargoed", {}, false],
    ["for-no-plan", {}, true],
    ["for-no-plan", { plan: "" }, true],
    ["for-no-plan", { plan: "pro" }, false],
    ["for-some-plan", { plan: "pro" }, true],
    ["for-some-plan", { plan: "" }, false],
    ["for-no-spam", { email: "a@b.org" }, true],
    ["for-no-spam", { email: "" }, false],
    ["for-adults", { age: "18" }, true],
    ["for-adults", { age: 100 }, false],
    ["for-not-level-7", { level: 8 }, true],
    ["for-not-level-7", { level: "7" }, false],
    ["for-not-level-7", {}, false],
    ["for-no-age", {}, true],
    ["for-beta", { beta: "TRUE" }, true],
    ["for-beta", { beta: false }, false],
    ["for-not-beta", {}, false],
    ["for-since-2026", { signedUp: "2026-01-01T00:00:00Z" }, true],
    ["for-until-2026", { signedUp: "2026-01-01T00:00:00Z" }, false],
    ["for-not-anna", { targetingKey: "ben" }, true],
    ["for-not-anna", {}, false],
    ["for-pro-or-swiss", { country: "CH" }, true],
    ["for-everyone", {}, true],
    ["both", { plan: "pro" }, false],
    ["both", { plan: "pro", email: "x@example.com" }, true],
    ["either", { plan: "pro" }, true],
    ["pro-out", { plan: "pro" }, false],
    ["default-on", {}, true],
    ["odd-in", { name: "x" }, false],
    ["colour", { email: "x@example.com" }, "red"],
    ["colour", {}, "blue"],
    ["colour-off", { email: "x@example.com" }, "blue"],
    ["colour-some", {}, ""],
    ["layout", { beta: true }, { columns: 4 }],
  ]));

test("another environment of the same file", async () => {
  const flags = async (name: string, environment: string) =>
    (await convertFile(name, {}, environment)).flags.map(({ key, enabled }) => [key, enabled]);
  assert.deepEqual(await flags("flipt", "staging"), [
    ["dark-mode", true],
    ["quiet", true],
  ]);
  const staging = new Map((await flags("unleash", "staging")) as [string, boolean][]);
  assert.equal(staging.get("half-of-one-percent"), true);
  const tested = new Map((await flags("launchdarkly", "test")) as [string, boolean][]);
  assert.equal(tested.get("only-in-test"), true);
});
