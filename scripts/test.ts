// npm test: every checker and every test, then one line that counts them. Give it file names to run only those tests.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { finished } from "node:stream/promises";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { startPostgresServer } from "../packages/server/test/support/postgres-server.ts";
import { longOnly } from "./long-only.ts";
import { needsPostgres, runsOnBoth } from "./stores.ts";
import { inBatches } from "./test-batches.ts";

const checks = [
  // The compiler's own checks too: it has read every file already for the rules that need types.
  ["types and promises", "oxlint", "--type-aware", "--type-check", "--deny-warnings"],
  ["format and lint", "biome", "ci", "--error-on-warnings", "."],
  ["rooms", "node", "scripts/check-rooms.ts"],
  ["dead code", "knip"],
] as const;

const chosen = process.argv.slice(2);
// Every test is a process of its own; what they all load is compiled once.
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
/** Beside the tests, which leave some of the machine idle at times; two at once, since some use one core only. */
const checkAll = async (): Promise<void> => {
  const left = checks.values();
  const work = async (): Promise<void> => {
    for (const each of left) await check(each);
  };
  await Promise.all([work(), work()]);
};
const checking = chosen.length === 0 ? checkAll() : undefined;

// The shell of npm scripts need not know braces. A name that fits no file is kept: its test fails.
const given = chosen.flatMap((name) => {
  const found = globSync(name);
  return found.length > 0 ? found : [name];
});
const all = globSync("{packages/*/test,test}/**/*.test.ts").sort();
const files = chosen.length > 0 ? given : all.filter((file) => longOnly[file] === undefined);
if (chosen.length === 0) {
  const scripts = [...new Set(Object.values(longOnly))].map((name) => `npm run ${name}`);
  console.log(
    `${all.length - files.length} files have scripts of their own: ${scripts.join(", ")}`,
  );
}
// At full size the fault tests take long, and one must not disturb the next.
const pace =
  process.env.HALYARD_FAULTS === "full"
    ? { concurrency: 1, timeout: 3_600_000 }
    : // More than the cores of a small machine, since some only wait; with more of them, each costs more: caches are shared.
      { concurrency: 4, timeout: 1_800_000 };
const durations: [seconds: number, file: string][] = [];

const runTests = async (
  store: string,
  those: readonly string[],
  { concurrency, timeout } = pace,
): Promise<void> => {
  if (those.length === 0) return;
  console.log(`\n▷ ${those.length} files on ${store}`);
  const env = { ...process.env, HALYARD_TEST_STORE: store };
  const files = chosen.length > 0 ? [...those] : inBatches(those, store);
  // Fewer collections of what is young: 3 to 4 % less for a file that starts many servers.
  const execArgv = ["--max-semi-space-size=64"];
  const tests = run({ files, env, concurrency, timeout, execArgv });
  tests.on("test:summary", ({ file, counts: summary, duration_ms }) => {
    if (file !== undefined) {
      durations.push([duration_ms / 1_000, `${relative(process.cwd(), file)} on ${store}`]);
      return;
    }
    counts.passed += summary.passed;
    counts.failed += summary.tests - summary.passed - summary.skipped - summary.todo;
  });
  const report = tests.compose(spec);
  report.pipe(process.stdout, { end: false });
  await finished(report);
};

/** Once, before any test does it beside another. */
const buildDashboard = (): void => {
  const script = join(import.meta.dirname, "build-dashboard.ts");
  const { status } = spawnSync(process.execPath, [script], { stdio: "inherit" });
  counts[status === 0 ? "passed" : "failed"] += 1;
};
/** The command as it is installed: the tests start it more than a thousand times. It brings the dashboard. */
const packCommand = async (): Promise<void> => {
  const folder = join(import.meta.dirname, "../node_modules/.cache/halyard-test/package");
  const { buildServer } = await import("./packages/server.ts");
  await buildServer(folder);
  process.env.HALYARD_TEST_COMMAND = join(folder, "lib/halyard.js");
};
/** What the tests in a browser need; when it cannot be had, they fail and this says why. */
const findBrowser = async (): Promise<void> => {
  const { haveBrowser } = await import("../packages/dashboard/test/support/find-browser.ts");
  console.log(`browser: ${haveBrowser().said}.`);
};
/** Those of the dashboard, and the SDK's in a page. */
const needsBrowser = (file: string): boolean =>
  file.startsWith("packages/dashboard/test/") || file.endsWith("browser.test.ts");
/** Those of the packages, which bring the dashboard and the SDK, and those that install the SDK from a server. */
const needsPackages = (file: string): boolean =>
  /\/(packages|published[a-z-]*|examples-languages)\.test\.ts$/.test(file);
const names = files.map((file) => relative(process.cwd(), file));
if (names.some((name) => needsBrowser(name) || needsPackages(name))) buildDashboard();
if (names.some(needsBrowser)) await findBrowser();
if (chosen.length === 0) await packCommand();

/** One of them, when only that is wanted. */
const onlyStore = process.env.HALYARD_TEST_STORE;
const onPostgres = onlyStore === "embedded" ? [] : names.filter(runsOnBoth);
const onEmbedded = onlyStore === "postgres" ? names.filter(needsPostgres) : names;
const isNeeded = onPostgres.length > 0 || onEmbedded.some(needsPostgres);
const postgres =
  isNeeded && !process.env.TEST_DATABASE_URL ? await startPostgresServer() : undefined;
if (postgres) process.env.TEST_DATABASE_URL = postgres.url;
try {
  if (pace.concurrency === 1) {
    await runTests("embedded", onEmbedded);
    await runTests("postgres", onPostgres);
  } else {
    // Side by side, so that the machine has work while the last files of one of them wait.
    await Promise.all([
      runTests("embedded", onEmbedded),
      runTests("postgres", onPostgres, { ...pace, concurrency: 1 }),
    ]);
  }
} finally {
  await postgres?.remove();
}
await checking;

const slowest = durations.toSorted(([a], [b]) => b - a).slice(0, 8);
console.log(
  `slowest: ${slowest.map(([seconds, file]) => `${file} ${seconds.toFixed(0)} s`).join(", ")}`,
);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
