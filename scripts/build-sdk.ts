// Builds packages/sdk for publishing: bundles, declarations and a package.json of its own. Give it a folder to write elsewhere.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, posix, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "rolldown";

const root = join(import.meta.dirname, "..");
const sdk = join(root, "packages/sdk");
const target = resolve(process.argv[2] ?? join(sdk, "dist"));
/** What users import, and the source file of each. */
const entries = {
  index: "index",
  "openfeature-server": "openfeature/server",
  "openfeature-web": "openfeature/web",
};

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, object>>;
}
const source = JSON.parse(readFileSync(join(sdk, "package.json"), "utf8")) as Manifest;
const peers = Object.keys(source.peerDependencies);

const bundle = async (): Promise<void> => {
  await build({
    input: Object.fromEntries(
      Object.entries(entries).map(([name, file]) => [name, join(sdk, "src", `${file}.ts`)]),
    ),
    // Whatever is not ours would be a dependency: it stays an import, and the test finds it.
    external: (name) => !/^(\.|\/|@halyard\/)/.test(name),
    platform: "neutral",
    output: { dir: target, format: "esm", chunkFileNames: "[name].js" },
    // Comments that name source files would name this machine's folders.
    experimental: { attachDebugInfo: "none" },
    logLevel: "warn",
  });
};

/** The declarations of every file that the entries reach, written by the compiler into this folder. */
const declare = (folder: string): void => {
  const options = join(folder, "tsconfig.json");
  const configuration = {
    extends: join(root, "tsconfig.base.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: join(root, "packages"),
      outDir: folder,
      // Found as a package, the core would count as somebody else's and get no declarations.
      paths: { "@halyard/core/*": [join(root, "packages/core/src/*.ts")] },
      typeRoots: [join(root, "node_modules/@types")],
    },
    files: Object.values(entries).map((file) => join(sdk, "src", `${file}.ts`)),
  };
  writeFileSync(options, JSON.stringify(configuration));
  const compiler = join(root, "node_modules/.bin/tsc");
  const { status, stdout } = spawnSync(compiler, ["-p", options], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the declarations cannot be made:\n${stdout}`);
};

const specifier = /(\bfrom\s+|\bimport\s*\(?\s*)"([^"]+)"/g;

/** Copies one declaration and those that it needs, with imports that hold outside this workspace. */
const copyDeclaration = (folder: string, path: string, copied: Set<string>): void => {
  if (copied.has(path)) return;
  copied.add(path);
  // sdk/src/x.d.ts -> x.d.ts, core/src/x.d.ts -> core/x.d.ts
  const placeOf = (file: string) => file.replace(/^sdk\/src\//, "").replace("core/src/", "core/");
  const text = readFileSync(join(folder, path), "utf8").replace(
    specifier,
    (whole, before: string, name: string) => {
      if (peers.includes(name)) return whole;
      const core = /^@halyard\/core\/(.+)$/.exec(name)?.[1];
      const needed =
        core === undefined
          ? posix.join(posix.dirname(path), name.replace(/\.ts$/, ".d.ts"))
          : `core/src/${core}.d.ts`;
      if (core === undefined && !name.startsWith(".")) {
        throw new Error(`${path} needs the types of ${name}, which users do not have`);
      }
      copyDeclaration(folder, needed, copied);
      const relative = posix.relative(posix.dirname(placeOf(path)), placeOf(needed));
      const dotted = relative.startsWith(".") ? relative : `./${relative}`;
      return `${before}"${dotted.replace(/\.d\.ts$/, ".js")}"`;
    },
  );
  const place = join(target, "types", placeOf(path));
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, text);
};

const manifest = (): object => ({
  name: source.name,
  version: source.version,
  description: "Feature flags of a Halyard server: evaluation in memory, OpenFeature, management.",
  license: source.license,
  type: "module",
  sideEffects: false,
  engines: { node: ">=20" },
  exports: Object.fromEntries(
    Object.entries(entries).map(([name, file]) => [
      name === "index" ? "." : `./${name}`,
      { types: `./types/${file}.d.ts`, default: `./${name}.js` },
    ]),
  ),
  peerDependencies: source.peerDependencies,
  peerDependenciesMeta: source.peerDependenciesMeta,
});

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
await bundle();
const folder = mkdtempSync(join(tmpdir(), "halyard-types-"));
try {
  declare(folder);
  const copied = new Set<string>();
  for (const file of Object.values(entries))
    copyDeclaration(folder, `sdk/src/${file}.d.ts`, copied);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
copyFileSync(join(sdk, "README.md"), join(target, "README.md"));
copyFileSync(join(root, "LICENSE"), join(target, "LICENSE"));

for (const file of readdirSync(target).filter((name) => name.endsWith(".js"))) {
  const bytes = readFileSync(join(target, file));
  console.log(`${basename(file)} ${bytes.length} bytes, ${gzipSync(bytes).length} gzipped`);
}
