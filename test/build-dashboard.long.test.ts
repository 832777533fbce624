// scripts/build-dashboard.ts: builds when something has changed, and only then; a start goes on without it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "halyard-build-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const copied = [
  "package.json",
  "package-lock.json",
  "LICENSE",
  "tsconfig.base.json",
  "scripts/build-dashboard.ts",
  "scripts/packages/pack-folder.ts",
  "scripts/packages/sdk.ts",
  "packages/sdk/package.json",
  "packages/sdk/README.md",
  "packages/dashboard/package.json",
  "packages/dashboard/index.html",
  "packages/dashboard/vite.config.ts",
];
for (const path of copied) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  copyFileSync(join(project, path), join(folder, path));
}
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
};
write("packages/dashboard/src/start/start.ts", 'import "../small.css";\ndocument.title = "one";\n');
const rules = Array.from({ length: 50 }, (_, number) => `.rule-${number} { width: ${number}px }`);
write("packages/dashboard/src/small.css", rules.join("\n"));
const { exports: entries } = JSON.parse(
  readFileSync(join(project, "packages/sdk/package.json"), "utf8"),
) as { readonly exports: Readonly<Record<string, string>> };
for (const path of Object.values(entries).filter((each) => each.endsWith(".ts"))) {
  write(join("packages/sdk", path), "export const sdk = 1;\n");
}

const dist = join(folder, "packages/dashboard/dist");
const build = (...args: string[]) => {
  const script = join(folder, "scripts/build-dashboard.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    encoding: "utf8",
    timeout: 600_000,
  });
  assert.match(stdout, /^dashboard: [^\n]+\.\n$/, `not one line: ${stdout}${stderr}`);
  return { status, said: stdout };
};

test("without the packages for development it says so, and only a start goes on", () => {
  assert.deepEqual(build("--if-possible"), {
    status: 0,
    said: "dashboard: not built, since the packages for development are not installed; there is none.\n",
  });
  assert.equal(build().status, 1);
  assert.ok(!existsSync(dist));
  symlinkSync(join(project, "node_modules"), join(folder, "node_modules"));
});

test("it builds what is new, keeps what is not, and leaves nothing else behind", () => {
  const first = build();
  assert.deepEqual([first.status, /built in [\d.]+ s/.test(first.said)], [0, true], first.said);
  const names = readdirSync(join(dist, "assets"));
  const kinds = names.map((name) => name.replace(/-[\w-]{8}\./, ".")).sort();
  assert.deepEqual(kinds, ["index.css", "index.css.br", "index.css.gz", "index.js"]);
  const page = readFileSync(join(dist, "index.html"), "utf8");
  assert.match(page, /<meta name="csp-nonce" content="__CSP_NONCE__"/);
  assert.ok(names.some((name) => name.endsWith(".js") && page.includes(`/assets/${name}`)));
  assert.doesNotMatch(page, /<script(?![^>]* src=)|<style| on[a-z]+=/, "something inline");
  assert.match(readdirSync(join(dist, "sdk")).join(), /^halyard-sdk-[\d.]+\.tgz$/);
  assert.match(build().said, /nothing has changed/);

  const changes = [
    ["packages/dashboard/src/start/start.ts", 'document.title = "two";\n'],
    ["packages/core/src/new.ts", "export const core = 1;\n"],
    ["packages/sdk/src/index.ts", "export const sdk = 2;\n"],
    ["package-lock.json", "{}\n"],
  ] as const;
  for (const [path, text] of changes) {
    write(path, text);
    assert.match(build("--if-possible").said, /built in/, path);
  }
  assert.match(build().said, /nothing has changed/);
  assert.deepEqual(
    readdirSync(join(dist, "..")).filter((name) => name.startsWith("dist")),
    ["dist"],
  );
});

test("sources that cannot be built leave the page of before in its place", () => {
  const earlier = readFileSync(join(dist, "index.html"), "utf8");
  write("packages/dashboard/src/start/start.ts", 'import "./nowhere.ts";\n');
  const script = join(folder, "scripts/build-dashboard.ts");
  for (const [args, status] of [
    [[], 1],
    [["--if-possible"], 0],
  ] as const) {
    const run = spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
    assert.equal(run.status, status, run.stdout);
    assert.match(run.stdout, /cannot be built: [\s\S]*nowhere[\s\S]*the one built earlier is used/);
  }
  assert.equal(readFileSync(join(dist, "index.html"), "utf8"), earlier);
});
