// npm run bench: every bench one after the other, each of which replaces its part of bench/README.md.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const benches = ["http", "evaluate", "streams", "instances", "footprint"];

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !benches.includes(name));
if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(", ")}; there are ${benches.join(", ")}.`);
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), "halyard-bench-"));
const document = join(import.meta.dirname, "README.md");

const run = (name: string): boolean => {
  console.log(`\n## ${name}`);
  const file = join(folder, `${name}.md`);
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`)], {
    stdio: "inherit",
    env: { ...process.env, BENCH_RESULT: file },
  });
  if (status !== 0) return false;
  const found = readFileSync(file, "utf8").trim();
  const before = readFileSync(document, "utf8");
  const part = new RegExp(`<!-- results: ${name} -->[\\s\\S]*?<!-- end -->`);
  writeFileSync(
    document,
    before.replace(part, () => `<!-- results: ${name} -->\n\n${found}\n\n<!-- end -->`),
  );
  spawnSync("biome", ["format", "--write", document], { stdio: "ignore" });
  return true;
};

try {
  const failed = benches
    .filter((name) => chosen.length === 0 || chosen.includes(name))
    .filter((name) => !run(name));
  if (failed.length > 0) {
    console.error(`Failed: ${failed.join(", ")}.`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
