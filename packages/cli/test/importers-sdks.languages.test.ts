// Random flags of each product, evaluated with the product's own SDK and with the imported flags: every difference must be
// reported by a note on the flag.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { promisify } from "node:util";
import { convert } from "../src/flags-file/importers/convert.ts";
import { readProduct } from "../src/flags-file/importers/read-product.ts";
import { evaluator } from "./support/import-fixtures.ts";
import { cases } from "./support/sdks/cases.ts";
import { compare, type Difference, type Trial } from "./support/sdks/compare.ts";
import { flagd } from "./support/sdks/flagd.ts";
import { flagsmith } from "./support/sdks/flagsmith.ts";
import { flipt } from "./support/sdks/flipt.ts";
import { growthbook } from "./support/sdks/growthbook.ts";
import { launchdarkly } from "./support/sdks/launchdarkly.ts";
import { percentages } from "./support/sdks/percentages.ts";
import { unleash } from "./support/sdks/unleash.ts";

const run = promisify(execFile);
const trials: readonly Trial[] = [launchdarkly, unleash, growthbook, flagsmith, flagd, flipt];
const wanted = 5_000;
const folder = mkdtempSync(join(tmpdir(), "halyard-test-sdks-"));
const sdk = (name: string): unknown => createRequire(join(folder, "package.json"))(name);

before(async () => {
  writeFileSync(join(folder, "package.json"), '{"name":"comparison","private":true}');
  const packages = trials.map(({ packageName, version }) => `${packageName}@${version}`);
  const options = ["--no-audit", "--no-fund", "--save-exact", "--ignore-scripts"];
  await run("npm", ["install", ...options, ...packages], { cwd: folder });
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** The first difference, with everything needed to reproduce it. */
const shown = ([first]: readonly Difference[]): string => {
  if (first === undefined) return "";
  const { flag, person, theirs, ours, notes, document, converted } = first;
  const imported = converted.flags.find(({ key }) => key === flag);
  return JSON.stringify({ flag, theirs, ours, notes, person, imported, document }, null, 1);
};

suite("imported flags decide like the product's SDK, or have a note about the difference", () => {
  for (const trial of trials) {
    test(`${trial.product}: ${trial.packageName} ${trial.version}`, async (t) => {
      const { evaluations, reported, silent, flags } = await compare(trial, sdk, { wanted });
      t.diagnostic(
        `${trial.product}: ${evaluations} evaluations, ${silent.length} silent differences, ${reported} reported ones; of the flags ${flags.whole} imported whole, ${flags.noted} with notes, ${flags.leftOut} skipped`,
      );
      assert.ok(evaluations >= wanted);
      // Most flags must be imported, many of them whole: otherwise the comparison would be pointless.
      assert.ok(flags.whole > 10 && flags.whole + flags.noted > flags.leftOut);
      assert.equal(silent.length, 0, shown(silent));
    });
  }
});

suite("a percentage selects different users, but the same number", () => {
  for (const trial of trials) {
    test(trial.product, async () => {
      const { document, person } = percentages[trial.product] ?? assert.fail("is not there");
      const loaded = await trial.load(document, sdk);
      const source = { value: document, environment: trial.environment };
      const evaluate = evaluator(convert(readProduct(trial.product, source).found, [], {}));
      const counts = { theirs: 0, ours: 0 };
      for (let index = 0; index < 10_000; index += 1) {
        const [theirs, ours] = person(`user-${index}`);
        if ((await loaded.evaluate("flag", theirs)) === true) counts.theirs += 1;
        if (evaluate("flag", ours).value === true) counts.ours += 1;
      }
      await loaded.close?.();
      // Four standard deviations; the users are the same at each run.
      for (const count of Object.values(counts))
        assert.ok(Math.abs(count - 3_000) < 184, `${count}`);
    });
  }
});

suite("the SDKs return the values that importers-exact.test.ts expects", () => {
  for (const { product, what, document, flag, people } of cases) {
    test(`${product}: ${what}`, async () => {
      const trial = trials.find((each) => each.product === product);
      const loaded = await trial?.load(document, sdk);
      for (const [theirs, , value] of people) {
        assert.deepEqual(await loaded?.evaluate(flag, theirs), value, JSON.stringify(theirs));
      }
      await loaded?.close?.();
    });
  }
});
