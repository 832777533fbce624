// npm test: every checker, then every test, then one line that counts them. Give it file names to run only those tests.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { finished } from "node:stream/promises";
import { run } from "node:test";
import { spec } from "node:test/reporters";

const checks = [
  ["types", "tsc", "-p", "."],
  ["format, lint and import rules", "biome", "ci", "--error-on-warnings", "."],
  ["promises and exhaustiveness", "oxlint", "--type-aware", "--deny-warnings"],
  ["dead code", "knip"],
] as const;

const chosen = process.argv.slice(2);
const counts = { passed: 0, failed: 0 };

for (const [name, command, ...args] of chosen.length > 0 ? [] : checks) {
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  if (status === 0) {
    counts.passed += 1;
    console.log(`✔ ${name} (${command}, ${seconds} s)`);
  } else {
    counts.failed += 1;
    console.log(`✖ ${name} (${command}, ${seconds} s)\n${stdout}${stderr}`);
  }
}

const files = chosen.length > 0 ? chosen : globSync("{packages/*/test,test}/**/*.test.ts").sort();
// At full size the fault tests take long, and one must not disturb the next.
const pace =
  process.env.HALYARD_FAULTS === "full"
    ? { concurrency: 1, timeout: 3_600_000 }
    : { concurrency: 2, timeout: 300_000 };
const tests = run({ files, ...pace });
tests.on("test:summary", ({ file, counts: summary }) => {
  if (file !== undefined) return;
  counts.passed += summary.passed;
  counts.failed += summary.tests - summary.passed - summary.skipped - summary.todo;
});
const report = tests.compose(spec);
report.pipe(process.stdout, { end: false });
await finished(report);

console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
