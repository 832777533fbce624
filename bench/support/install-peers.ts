// Installs what Halyard is measured beside, when it is missing: nobody who only uses Halyard needs it.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const pathOf = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
const readJson = (path: string): unknown => JSON.parse(readFileSync(pathOf(path), "utf8"));

/** Gives the version of each by its name. */
export const installPeers = (
  folder: "peers" | "peers/server",
): Readonly<Record<string, string>> => {
  const { dependencies } = readJson(`${folder}/package.json`) as {
    dependencies: Record<string, string>;
  };
  const isInstalled = ([name, version]: [string, string]): boolean => {
    const path = `${folder}/node_modules/${name}/package.json`;
    return existsSync(pathOf(path)) && (readJson(path) as { version: string }).version === version;
  };
  if (!Object.entries(dependencies).every(isInstalled)) {
    console.log(`Installing what is measured beside Halyard into bench/${folder} …`);
    const args = ["ci", "--prefix", pathOf(folder), "--no-audit", "--no-fund", "--ignore-scripts"];
    const { status } = spawnSync("npm", args, {
      stdio: "inherit",
      shell: process.platform === "win32",
    });
    if (status !== 0) throw new Error(`npm ci in bench/${folder} failed.`);
  }
  return dependencies;
};
