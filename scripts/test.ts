// Runs the tests of a kind such as `long`, or the files given, on the stores that their names say, and counts them. Without
// arguments (npm test): the checkers, and all tests whose names say no kind.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { startPostgresServer } from "../packages/server/test/support/postgres-server.ts";
import { findTests, isKind, parseTestName } from "./test-files.ts";
import { eachAlone, inGroups } from "./test-groups.ts";

const checks = [
  // The compiler's own checks too: it has read every file already for the rules that need types.
  ["types and promises", "oxlint", "--type-aware", "--type-check", "--deny-warnings"],
  ["format and lint", "biome", "ci", "--error-on-warnings", "."],
  ["rooms", "node", "scripts/check-rooms.ts"],
  ["dead code", "knip"],
] as const;

const args = process.argv.slice(2);
const [kind = ""] = args;
const isChosen = !isKind(kind);
const files = isChosen ? args : findTests(kind);
/** They measure, or take all of the machine: one must not disturb the next. */
const takesTurns = files.some((file) => !["", "long"].includes(parseTestName(file).kind));
// What all test processes load is compiled once.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "../node_modules/.cache/halyard-test");
const counts = { passed: 0, failed: 0 };

const check = async ([name, command, ...args]: (typeof checks)[number]): Promise<void> => {
  const started = performance.now();
  // The checker of types is written in Go: it collects less often, and takes a fifth less.
  const env = { ...process.env, GOGC: "400" };
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const [output, failed] = await Promise.all([
    Promise.all([text(child.stdout), text(child.stderr)]),
    once(child, "close").then(([code]) => code !== 0),
  ]);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  counts[failed ? "failed" : "passed"] += 1;
  console.log(
    `${failed ? "✖" : "✔"} ${name} (${command}, ${seconds} s)${failed ? `\n${output.join("")}` : ""}`,
  );
};
/** Two at once, since some use one core only. */
const checkAll = async (): Promise<void> => {
  const left = checks.values();
  const work = async (): Promise<void> => {
    for (const each of left) await check(each);
  };
  await Promise.all([work(), work()]);
};

/** Once, before tests would do it at the same time. */
const buildDashboard = (): void => {
  const script = join(import.meta.dirname, "build-dashboard.ts");
  if (spawnSync(process.execPath, [script], { stdio: "inherit" }).status !== 0) counts.failed += 1;
};
/** The command as it is installed: the tests start it more than a thousand times. It brings the dashboard. */
const packCommand = async (): Promise<void> => {
  const folder = join(import.meta.dirname, "../node_modules/.cache/halyard-test/package");
  const { buildServer } = await import("./packages/server.ts");
  await buildServer(folder);
  process.env.HALYARD_TEST_COMMAND = join(folder, "lib/halyard.js");
};
/** When there is none and none can be installed, the tests in a browser fail and this says why. */
const findBrowser = async (): Promise<void> => {
  const { haveBrowser } = await import("../packages/dashboard/test/support/find-browser.ts");
  console.log(`browser: ${haveBrowser().said}.`);
};

// Tests run while the checkers do, since they leave some of the machine idle at times.
const checking = kind === "" ? checkAll() : undefined;
buildDashboard();
if (files.some((file) => /dashboard|browser/.test(file))) await findBrowser();
if (!isChosen) await packCommand();

const needsPostgres = files.some((file) => parseTestName(file).stores.includes("postgres"));
const postgres =
  needsPostgres && !process.env.TEST_DATABASE_URL ? await startPostgresServer() : undefined;
if (postgres) process.env.TEST_DATABASE_URL = postgres.url;

const durations: [seconds: number, file: string][] = [];
const tests = run({
  files: isChosen || takesTurns ? eachAlone(files) : inGroups(files),
  // More than the cores of a small machine, since some only wait; with more of them, each costs more: caches are shared.
  concurrency: takesTurns ? 1 : 5,
  timeout: 3_600_000,
  // Fewer collections of what is young: 3 to 4 % less for a file that starts many servers.
  execArgv: ["--max-semi-space-size=64"],
});
tests.on("test:summary", ({ file, counts: summary, duration_ms, success }) => {
  if (file !== undefined) {
    durations.push([duration_ms / 1_000, basename(file, ".test.mjs")]);
    return;
  }
  counts.passed += summary.passed;
  const failed = summary.tests - summary.passed - summary.skipped - summary.todo;
  // A file that can't be loaded is a suite that fails, without a test that does.
  counts.failed += success ? failed : Math.max(failed, 1);
});
try {
  const report = tests.compose(spec);
  report.pipe(process.stdout, { end: false });
  await finished(report);
} finally {
  await postgres?.remove();
}
await checking;

const slowest = durations.toSorted(([a], [b]) => b - a).slice(0, 8);
console.log(
  `slowest: ${slowest.map(([seconds, name]) => `${name} ${seconds.toFixed(0)} s`).join(", ")}`,
);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
