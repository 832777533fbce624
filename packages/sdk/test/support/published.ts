// The package as users get it: the tarball that the server serves, installed into an empty folder, once for each test file.
import { execFile, execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const root = fileURLToPath(new URL("../../../../", import.meta.url));

export interface Published {
  /** A folder in which the package is installed. */
  readonly folder: string;
  /** Where the package is in it. */
  readonly installed: string;
  /** What is in the package. */
  readonly files: readonly string[];
  readonly tarball: string;
  remove(): void;
}

export const publish = (): Published => {
  const folder = mkdtempSync(join(tmpdir(), "halyard-published-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: folder, encoding: "utf8" });
  try {
    // Does nothing when the one that is there is of the present sources.
    run(process.execPath, join(root, "scripts/build-dashboard.ts"));
    const built = join(root, "packages/dashboard/dist/sdk");
    const [name, ...others] = readdirSync(built);
    if (name === undefined || others.length > 0) throw new Error(`not one tarball in ${built}`);
    const tarball = join(built, name);
    writeFileSync(join(folder, "package.json"), '{"name":"user","private":true,"type":"module"}');
    run("npm", "install", "--offline", "--no-audit", "--no-fund", tarball);
    const installed = join(folder, "node_modules/@halyard/sdk");
    const files = globSync("**/*", { cwd: installed, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
    return { folder, installed, files: files.toSorted(), tarball, remove };
  } catch (cause) {
    remove();
    throw cause;
  }
};

const run = promisify(execFile);

/** A new folder with the package and others of the registry; undefined, and the test skipped, where these cannot be loaded. */
export const installed = async (
  t: TestContext,
  { folder, tarball }: Published,
  ...packages: readonly string[]
): Promise<string | undefined> => {
  const project = mkdtempSync(join(folder, "with-packages-"));
  writeFileSync(join(project, "package.json"), '{"private":true}');
  try {
    const options = ["--ignore-scripts", "--no-audit", "--no-fund"];
    await run("npm", ["install", ...options, tarball, ...packages], { cwd: project });
    return project;
  } catch (error) {
    const [reason] = String(error instanceof Error ? error.message : error).split("\n");
    t.skip(`the packages cannot be loaded here: ${reason}`);
    return undefined;
  }
};
