// npm run bench: every bench one after the other, then the tables into bench/README.md and the data into bench/results.json.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Found, machine, markdown, type Table } from "./support/report.ts";

const benches = [
  "http",
  "evaluate",
  "targeting",
  "streams",
  "instances",
  "footprint",
  "peers",
] as const;
type Name = (typeof benches)[number];

interface Kept extends Found {
  readonly machine: string;
  readonly date: string;
  readonly seconds: number;
}
type Results = Partial<Record<Name, Kept>>;

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !benches.some((bench) => bench === name));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(", ")}; there are ${benches.join(", ")}.`);
  process.exit(2);
}

/** What stands at the top of the document: each figure beside its ceiling. */
const glance: readonly (readonly [what: string, bench: Name, figure: string, beside: string])[] = [
  ["GET of one flag", "http", "GET of one flag", "bare node:http, same bytes"],
  ["GET of a list of 1,000", "http", "GET of a list", "bare node:http, same bytes"],
  ["OFREP, one flag", "http", "OFREP single evaluation", "bare node:http that reads and parses"],
  [
    "`isEnabled` in memory",
    "evaluate",
    "isEnabled beside the bare hash loop",
    "bare hash-and-compare loop",
  ],
  [
    "`isEnabled` in memory",
    "evaluate",
    "isEnabled beside the fastest other",
    "fastest SDK of others",
  ],
  [
    "five rules in memory, the last matches",
    "targeting",
    "rules beside the fastest other, the last rule matches",
    "fastest SDK of others",
  ],
  [
    "PATCH, embedded store",
    "instances",
    "PATCH beside bare commits, SQLite, 16 connections",
    "bare commits of the same rows",
  ],
  [
    "PATCH, PostgreSQL",
    "instances",
    "PATCH beside bare commits, PostgreSQL, 16 connections",
    "bare commits of the same rows",
  ],
  ["OFREP, one flag", "peers", "OFREP beside GO Feature Flag", "GO Feature Flag's relay proxy"],
];

const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
const resultsFile = pathOf("results.json");
const results = (
  existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, "utf8")) : {}
) as Results;

const run = (name: Name): boolean => {
  console.log(`\n## ${name}`);
  const file = join(folder, `${name}.json`);
  const started = performance.now();
  const { status } = spawnSync(process.execPath, [pathOf(`${name}.ts`)], {
    stdio: "inherit",
    env: { ...process.env, BENCH_RESULT: file },
  });
  if (status !== 0) return false;
  results[name] = {
    ...(JSON.parse(readFileSync(file, "utf8")) as Found),
    machine,
    date: new Date().toISOString().slice(0, 10),
    seconds: Math.round((performance.now() - started) / 1_000),
  };
  return true;
};

const tableText = ({ columns, rows }: Table): string =>
  [columns, columns.map(() => "---"), ...rows].map(markdown).join("\n");

const partsText = ({ parts }: Found): string =>
  parts.map((part) => (typeof part === "string" ? part : tableText(part))).join("\n\n");

const glanceText = (): string => {
  const rows = glance.flatMap(([what, bench, figure, beside]) => {
    const ratio = results[bench]?.figures[figure];
    return ratio === undefined ? [] : [[what, beside, ratio.toFixed(2)]];
  });
  return tableText({ columns: ["Halyard", "beside", "median of the ratios"], rows });
};

const write = (): void => {
  writeFileSync(resultsFile, `${JSON.stringify(results, null, 2)}\n`);
  const document = pathOf("README.md");
  const text = readFileSync(document, "utf8").replace(
    /<!-- results: (\w+) -->[\s\S]*?<!-- end -->/g,
    (unchanged, name: string) => {
      const kept = name === "glance" ? undefined : results[name as Name];
      const found = name === "glance" ? glanceText() : kept && partsText(kept);
      return found === undefined
        ? unchanged
        : `<!-- results: ${name} -->\n\n${found}\n\n<!-- end -->`;
    },
  );
  writeFileSync(document, text);
  spawnSync("biome", ["format", "--write", document, resultsFile], { stdio: "ignore" });
};

try {
  const failed = (chosen.length > 0 ? benches.filter((name) => chosen.includes(name)) : benches)
    // Written after each: what was measured is kept when a later one fails.
    .filter((name) => {
      const isDone = run(name);
      if (isDone) write();
      return !isDone;
    });
  console.log(`\nWritten: bench/README.md and bench/results.json.`);
  if (failed.length > 0) {
    console.error(`Failed: ${failed.join(", ")}.`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
