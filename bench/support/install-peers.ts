// Installs the SDKs that the benchmarks compare with, unless they are installed already.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const pathOf = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const readJson = (path: string): unknown => JSON.parse(readFileSync(pathOf(path), "utf8"));

const folder = "peers";

/** Returns the version of each package. */
export const installPeers = (): Readonly<Record<string, string>> => {
  const { dependencies } = readJson(`${folder}/package.json`) as {
    dependencies: Record<string, string>;
  };
  const isInstalled = ([name, version]: [string, string]): boolean => {
    const path = `${folder}/node_modules/${name}/package.json`;
    return existsSync(pathOf(path)) && (readJson(path) as { version: string }).version === version;
  };
  if (!Object.entries(dependencies).every(isInstalled)) {
    console.log(`Installing the SDKs to compare with into bench/${folder} …`);
    const args = ["ci", "--prefix", pathOf(folder), "--no-audit", "--no-fund", "--ignore-scripts"];
    const { status } = spawnSync("npm", args, {
      stdio: "inherit",
      shell: process.platform === "win32",
    });
    if (status !== 0) throw new Error(`npm ci in bench/${folder} failed.`);
  }
  return dependencies;
};
