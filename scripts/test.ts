// npm test: every checker, then every test, then one line that counts them. Give it file names to run only those tests.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join, relative } from "node:path";
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
// Every test is a process of its own; what they all load is compiled once.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "../node_modules/.cache/halyard-test");
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
    : // More than the cores of a small machine: several tests only wait, for leases and time limits to end.
      { concurrency: 4, timeout: 300_000 };
const tests = run({ files, ...pace });
const durations: [seconds: number, file: string][] = [];
tests.on("test:summary", ({ file, counts: summary, duration_ms }) => {
  if (file !== undefined) {
    durations.push([duration_ms / 1_000, relative(process.cwd(), file)]);
    return;
  }
  counts.passed += summary.passed;
  counts.failed += summary.tests - summary.passed - summary.skipped - summary.todo;
});
const report = tests.compose(spec);
report.pipe(process.stdout, { end: false });
await finished(report);

const slowest = durations.toSorted(([a], [b]) => b - a).slice(0, 8);
console.log(
  `slowest: ${slowest.map(([seconds, file]) => `${file} ${seconds.toFixed(0)} s`).join(", ")}`,
);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
