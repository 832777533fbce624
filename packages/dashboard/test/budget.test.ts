// What a first visit loads, from the manifest of the build: few bytes, and nothing that it does not need.
import assert from "node:assert/strict";
import { globSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";

const dashboard = join(import.meta.dirname, "..");
const dist = join(dashboard, "dist");

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}
const manifest = JSON.parse(readFileSync(join(dist, "manifest.json"), "utf8")) as Readonly<
  Record<string, Chunk>
>;

/** The page, the application and its first page. */
const firstChunks = ["index.html", "src/app.tsx", "src/pages/flags-page.tsx"];

const withImports = (names: readonly string[]): ReadonlySet<string> => {
  const all = new Set<string>();
  const add = (name: string): void => {
    if (all.has(name)) return;
    all.add(name);
    assert.ok(manifest[name], `${name} is not in the manifest`);
    for (const each of manifest[name].imports ?? []) add(each);
  };
  for (const name of names) add(name);
  return all;
};
const first = withImports(firstChunks);

/** As it is sent. */
const bytesOf = (file: string): number => {
  const path = join(dist, file);
  return statSync(globSync(`${path}.br`)[0] ?? path).size;
};

test("the scripts and styles of a first visit are at most 250 KB", (t) => {
  const files = new Set(
    [...first].flatMap((name) => {
      const { file, css = [] } = manifest[name] ?? { file: "" };
      return [file, ...css];
    }),
  );
  const bytes = [...files]
    .filter((file) => /\.(js|css)$/.test(file))
    .reduce((sum, file) => sum + bytesOf(file), 0);
  t.diagnostic(`${bytes} bytes in ${files.size} files`);
  assert.ok(bytes > 50_000, "hardly anything was counted");
  assert.ok(bytes <= 250_000, `${bytes} bytes with brotli`);
});

test("what is loaded when it is needed is not part of a first visit", () => {
  const sources = globSync("src/**/*.{ts,tsx}", { cwd: dashboard });
  const loadedLater = sources.flatMap((source) =>
    [...readFileSync(join(dashboard, source), "utf8").matchAll(/import\("(\.[^"]+)"\)/g)].map(
      ([, path = ""]) => posix.join(posix.dirname(source), path),
    ),
  );
  const later = loadedLater.filter((name) => !firstChunks.includes(name));
  for (const name of [
    "src/palette/palette-results.tsx",
    "src/targeting/rules/targeting-editor.tsx",
    "src/pages/compare-page.tsx",
    "src/pages/keys-page.tsx",
  ]) {
    assert.ok(later.includes(name), `${name} is loaded at the start`);
  }
  for (const name of later) {
    // A file that others share is named after its module alone.
    const own = Object.keys(manifest).find(
      (key) => key === name || key.startsWith(`_${posix.basename(name, ".tsx")}-`),
    );
    assert.ok(own !== undefined, `${name} has no file of its own`);
    assert.ok(!first.has(own), `${name} is loaded at the start`);
  }
});
