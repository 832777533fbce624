// Builds the package @halyard/sdk into a folder: ES modules and CommonJS, each with declarations, and a manifest of its own.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import { build } from "rolldown";

const root = join(import.meta.dirname, "../..");
const sdk = join(root, "packages/sdk");
/** What users import; each is also the name of a source file. */
const entries = [
  "index",
  "browser",
  "edge",
  "management",
  "webhooks",
  "openfeature/server",
  "openfeature/web",
] as const;
/** Each in a folder of its own, whose manifest says what the `.js` and `.d.ts` files in it are. */
const formats = [
  { folder: "esm", format: "esm", type: "module" },
  { folder: "cjs", format: "cjs", type: "commonjs" },
] as const;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, object>>;
}
const source = JSON.parse(readFileSync(join(sdk, "package.json"), "utf8")) as Manifest;
const peers = Object.keys(source.peerDependencies);

const writeJson = (file: string, content: object): void =>
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`);

const bundle = async (target: string): Promise<void> => {
  for (const { folder, format } of formats) {
    await build({
      input: Object.fromEntries(entries.map((entry) => [entry, join(sdk, "src", `${entry}.ts`)])),
      // Whatever is not ours would be a dependency: it stays an import, and the test finds it.
      external: (name) => !/^(\.|\/|@halyard\/)/.test(name),
      platform: "neutral",
      output: { dir: join(target, folder), format, chunkFileNames: "shared/[name].js" },
      // Comments that name source files would name this machine's folders.
      experimental: { attachDebugInfo: "none" },
      logLevel: "warn",
    });
  }
};

/** The declarations of every file that the entries reach, written by the compiler into this folder. */
const declare = (folder: string): void => {
  const options = join(folder, "tsconfig.json");
  writeJson(options, {
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
    files: entries.map((entry) => join(sdk, "src", `${entry}.ts`)),
  });
  const compiler = join(root, "node_modules/.bin/tsc");
  const { status, stdout } = spawnSync(compiler, ["-p", options], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the declarations cannot be made:\n${stdout}`);
};

const specifier = /(\bfrom\s+|\bimport\s*\(?\s*)"([^"]+)"/g;

/** Copies one declaration and those that it needs, with imports that hold outside this workspace. */
const copyDeclaration = (
  from: string,
  target: string,
  path: string,
  copied = new Set<string>(),
): void => {
  if (copied.has(path)) return;
  copied.add(path);
  // sdk/src/x.d.ts -> x.d.ts, core/src/x.d.ts -> core/x.d.ts
  const placeOf = (file: string) => file.replace(/^sdk\/src\//, "").replace("core/src/", "core/");
  const text = readFileSync(join(from, path), "utf8").replace(
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
      copyDeclaration(from, target, needed, copied);
      const relative = posix.relative(posix.dirname(placeOf(path)), placeOf(needed));
      const dotted = relative.startsWith(".") ? relative : `./${relative}`;
      return `${before}"${dotted.replace(/\.d\.ts$/, ".js")}"`;
    },
  );
  const place = join(target, placeOf(path));
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, text);
};

const declareAll = (target: string): void => {
  const made = mkdtempSync(join(tmpdir(), "halyard-types-"));
  try {
    declare(made);
    for (const { folder } of formats) {
      for (const entry of entries) {
        copyDeclaration(made, join(target, folder, "types"), `sdk/src/${entry}.d.ts`);
      }
    }
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
};

const forImport = (folder: string, entry: string) => ({
  types: `./${folder}/types/${entry}.d.ts`,
  default: `./${folder}/${entry}.js`,
});

const manifest = (): object => ({
  name: source.name,
  version: source.version,
  description: "Feature flags of a Halyard server: evaluation in memory, OpenFeature, management.",
  license: source.license,
  type: "module",
  sideEffects: false,
  engines: { node: ">=20" },
  // For tools that do not read `exports`.
  main: "./cjs/index.js",
  types: "./cjs/types/index.d.ts",
  exports: {
    ...Object.fromEntries(
      entries.map((entry) => [
        entry === "index" ? "." : `./${entry}`,
        { import: forImport("esm", entry), require: forImport("cjs", entry) },
      ]),
    ),
    "./package.json": "./package.json",
  },
  peerDependencies: source.peerDependencies,
  peerDependenciesMeta: source.peerDependenciesMeta,
});

/** For tools that do not read `exports`, such as TypeScript with `moduleResolution: node10`: a folder for each subpath. */
const writeSubpaths = (target: string): void => {
  for (const entry of entries.filter((each) => each !== "index")) {
    const built = posix.join(...entry.split("/").map(() => ".."), "cjs");
    mkdirSync(join(target, entry), { recursive: true });
    writeJson(join(target, entry, "package.json"), {
      main: `${built}/${entry}.js`,
      types: `${built}/types/${entry}.d.ts`,
    });
  }
};

export const buildSdk = async (target: string): Promise<void> => {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  await bundle(target);
  declareAll(target);
  for (const { folder, type } of formats) {
    writeJson(join(target, folder, "package.json"), { type, sideEffects: false });
  }
  writeSubpaths(target);
  writeJson(join(target, "package.json"), manifest());
  copyFileSync(join(sdk, "README.md"), join(target, "README.md"));
  copyFileSync(join(root, "LICENSE"), join(target, "LICENSE"));
};
