// Builds the dashboard into packages/dashboard/dist when its sources have changed since, with the tarball of the SDK that its
// install lines name. With --if-possible a start goes on without.
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

const root = join(import.meta.dirname, "..");
const dashboard = join(root, "packages/dashboard");
const target = join(dashboard, "dist");
const stamp = "sources.sha256";

const sources = [
  "packages/dashboard/{index.html,package.json,vite.config.ts,src/**/*}",
  "packages/{core,sdk}/{package.json,src/**/*.ts}",
  "packages/sdk/README.md",
  "{LICENSE,package-lock.json,tsconfig.base.json}",
  // Receivers in it are shown in the page.
  "docs/webhooks.md",
  "scripts/build-dashboard.ts",
  "scripts/packages/{pack-folder,sdk}.ts",
];

const hashSources = (): string => {
  const hash = createHash("sha256");
  const files = globSync(sources, { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of files) {
    hash
      .update(`${file.slice(root.length)}\n`)
      .update(readFileSync(file))
      .update("\n");
  }
  return hash.digest("hex");
};

const builtFrom = (): string | undefined => {
  const file = join(target, stamp);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
};

/** What gets smaller by it is kept compressed too, so that nobody has to do it while serving. */
const compress = (folder: string): void => {
  for (const name of readdirSync(folder)) {
    if (!/\.(css|js|svg)$/.test(name)) continue;
    const bytes = readFileSync(join(folder, name));
    for (const [ending, smaller] of [
      ["br", brotliCompressSync(bytes)],
      ["gz", gzipSync(bytes, { level: 9 })],
    ] as const) {
      if (smaller.length < bytes.length) writeFileSync(join(folder, `${name}.${ending}`), smaller);
    }
  }
};

/** The tarball of the SDK into this folder. */
const packSdk = async (folder: string): Promise<void> => {
  const { buildSdk } = await import("./packages/sdk.ts");
  const { packFolder } = await import("./packages/pack-folder.ts");
  const built = mkdtempSync(join(tmpdir(), "halyard-sdk-"));
  try {
    await buildSdk(built);
    mkdirSync(folder);
    packFolder(built, folder);
  } finally {
    rmSync(built, { recursive: true, force: true });
  }
};

/** Made beside and then put in its place, so that nobody ever finds half of it. */
const build = async (hash: string): Promise<void> => {
  const { build: bundle } = await import("vite");
  const made = mkdtempSync(join(dashboard, "dist-"));
  try {
    // Whoever runs the server may be somebody else.
    chmodSync(made, 0o755);
    await bundle({
      root: dashboard,
      logLevel: "warn",
      build: { outDir: made, emptyOutDir: true },
    });
    compress(join(made, "assets"));
    await packSdk(join(made, "sdk"));
    writeFileSync(join(made, stamp), hash);
    const old = `${made}-old`;
    if (existsSync(target)) renameSync(target, old);
    renameSync(made, target);
    rmSync(old, { recursive: true, force: true });
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
};

const say = (sentence: string): void => console.log(`dashboard: ${sentence}`);

const isMissing = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";

const started = performance.now();
const hash = hashSources();
if (builtFrom() === hash) {
  say("built already, nothing has changed.");
} else {
  try {
    await build(hash);
    say(`built in ${((performance.now() - started) / 1_000).toFixed(1)} s.`);
  } catch (error) {
    const state = existsSync(target) ? "the one built earlier is used" : "there is none";
    const reason = isMissing(error)
      ? "not built, since the packages for development are not installed"
      : `it cannot be built: ${error instanceof Error ? error.message : String(error)}`;
    say(`${reason}; ${state}.`);
    if (!process.argv.includes("--if-possible")) process.exitCode = 1;
  }
}
