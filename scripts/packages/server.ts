// Builds the package @halyard/server into a folder: the server, its command line and its dashboard, with all that they need.
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { build, type Plugin } from "rolldown";
import { referenceFolder } from "../../packages/server/src/installation.ts";
import { licencesOf } from "./licences.ts";

const root = join(import.meta.dirname, "../..");

/** Takes the place of packages/server/src/installation.ts: in the package, all files are beside the code. */
const installation = `
import { join } from "node:path";
export const dashboardFolder = join(import.meta.dirname, "dashboard");
export const referenceFolder = join(import.meta.dirname, "reference");
export const workerFile = join(import.meta.dirname, "cluster-worker.js");
`;
const bundle = async (lib: string): Promise<string[]> => {
  const replaced = join(root, "packages/server/src/installation.ts");
  const plugin: Plugin = {
    name: "installation",
    load: (id) => (id === replaced ? installation : null),
  };
  const { output } = await build({
    input: {
      halyard: join(root, "packages/cli/src/main.ts"),
      "cluster-worker": join(root, "packages/server/src/process/cluster-worker.ts"),
    },
    platform: "node",
    // pg uses it only when someone installs it and asks for it.
    external: ["pg-native"],
    plugins: [plugin],
    output: {
      dir: lib,
      format: "esm",
      chunkFileNames: "[name]-[hash].js",
      // Names are kept, so that stack traces say where.
      minify: { compress: true, mangle: false, codegen: true },
    },
    experimental: { attachDebugInfo: "none" },
    logLevel: "warn",
  });
  const modules = output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
  // Otherwise the package would look for its files in a repository.
  if (!modules.includes(replaced)) throw new Error(`${replaced} is not in the bundle`);
  return modules;
};

const manifest = (): object => {
  const source = JSON.parse(readFileSync(join(root, "packages/server/package.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
    readonly license: string;
  };
  return {
    name: source.name,
    version: source.version,
    description: "Halyard: self-hosted feature flags with signed webhooks on every change.",
    license: source.license,
    type: "module",
    bin: { halyard: "bin/halyard.mjs" },
    exports: { "./package.json": "./package.json" },
    engines: { node: ">=26" },
  };
};

/** The files of Swagger UI that the page at /docs loads. */
const referenceFiles = ["swagger-ui.css", "index.css", "swagger-ui-bundle.js", "favicon-32x32.png"];

/** The dashboard must be built. */
export const buildServer = async (target: string): Promise<void> => {
  rmSync(target, { recursive: true, force: true });
  const lib = join(target, "lib");
  const modules = await bundle(lib);
  cpSync(join(root, "packages/dashboard/dist"), join(lib, "dashboard"), { recursive: true });
  mkdirSync(join(lib, "reference"));
  for (const file of referenceFiles) {
    copyFileSync(join(referenceFolder, file), join(lib, "reference", file));
  }
  mkdirSync(join(target, "bin"));
  copyFileSync(join(import.meta.dirname, "halyard.mjs"), join(target, "bin/halyard.mjs"));
  chmodSync(join(target, "bin/halyard.mjs"), 0o755);
  writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest(), null, 2)}\n`);
  for (const file of ["LICENSE", "README.md"]) copyFileSync(join(root, file), join(target, file));
  const foreign = modules.filter((id) => id.includes("node_modules"));
  writeFileSync(
    join(target, "THIRD-PARTY-LICENSES.txt"),
    licencesOf([...foreign, join(referenceFolder, "index.css")]),
  );
};
